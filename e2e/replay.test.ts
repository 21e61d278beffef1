import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Page } from '@playwright/test'
import { startStage, takeScreenshot, walkTabs, type Stage } from './browser.ts'
import { hostileSession, HOSTILE } from './sample-extremes.ts'
import { failingSession, multiAgentSession } from './sample-sessions.ts'

let stage: Stage
const failing = failingSession()
const agents = multiAgentSession()

beforeAll(async () => {
  stage = await startStage()
  await stage.post(failing)
  await stage.post(agents)
}, 240_000)

afterAll(() => stage.stop())

function clock(page: Page): Promise<string> {
  return page.locator('.transport-clock b').innerText()
}

function selectedRow(page: Page) {
  return page.locator('.step-row.is-selected')
}

async function openFailing(search = '') {
  const opened = await stage.open(`/sessions/${failing.traceId}${search}`)
  await opened.page.waitForSelector('.step-row')
  return opened
}

describe('opening', () => {
  test('a failing session opens on the failing step, with its error and the null argument in view', async () => {
    const { page, problems, close } = await openFailing()
    expect(await selectedRow(page).innerText()).toContain('fetch_customer_data')
    expect(await clock(page)).toBe('00:01.890')
    const problem = page.locator('.argument.is-problem')
    await problem.waitFor()
    expect(await problem.innerText()).toMatch(/customer_id\s+null\s+← PROBLEM null was passed/)
    for (const part of [
      problem,
      page.locator('.error-box-frame').last(),
      page.locator('.value-trail-step').first(),
    ])
      expect(await isInView(page, part)).toBe(true)
    expect(await page.locator('.error-box').first().innerText()).toContain(
      'ValueError: customer_id cannot be null',
    )
    expect(await page.locator('.value-trail-step').first().innerText()).toBe(
      'extract_customer_id returned customer_id=null',
    )
    expect(problems).toEqual([])
    await close()
  })

  test('the session is requested once, before the scripts of the page have loaded', async () => {
    const { page, close } = await openFailing()
    const startedEarly = await page.evaluate((path) => {
      const resources = performance.getEntriesByType('resource')
      const script = resources.find(({ name }) => /\/assets\/index-.*\.js$/.test(name))!
      return resources
        .filter(({ name }) => new URL(name).pathname === path)
        .map(({ startTime }) => startTime < script.startTime + script.duration)
    }, `/api/sessions/${failing.traceId}`)
    expect(startedEarly).toEqual([true])
    await close()
  })

  test('a link opens at its step and time', async () => {
    const { page, close } = await openFailing()
    await page.locator('.step-row', { hasText: 'classify_intent' }).click()
    await expect.poll(() => new URL(page.url()).searchParams.get('step')).toMatch(/^[0-9a-f]{16}$/)
    const step = new URL(page.url()).searchParams.get('step')
    await close()
    const linked = await openFailing(`?step=${step}&t=1500`)
    expect(await selectedRow(linked.page).innerText()).toContain('classify_intent')
    expect(await clock(linked.page)).toBe('00:01.500')
    await linked.close()
  })

  test('a successful session opens at its start, with nothing dimmed', async () => {
    const { page, close } = await stage.open(`/sessions/${agents.traceId}`)
    await page.waitForSelector('.step-row')
    expect(await clock(page)).toBe('00:00.000')
    expect(await page.locator('.step-row.is-ahead').count()).toBe(0)
    await close()
  })

  test('an unknown session id is reported as not found', async () => {
    const { page, close } = await stage.open('/sessions/0123456789abcdef0123456789abcdef')
    await page.getByRole('heading', { name: 'Session not found' }).waitFor()
    expect(await page.getByRole('alert').innerText()).toBe(
      'There is no session 0123456789abcdef0123456789abcdef in the project default. It may have been deleted or expired, or it may be in another project.',
    )
    await close()
  })
})

async function isInView(page: Page, locator: ReturnType<Page['locator']>): Promise<boolean> {
  const box = await locator.boundingBox()
  const { width } = page.viewportSize()!
  // The state bar covers the end of the page.
  const { y: height } = (await page.locator('.state-bar').boundingBox())!
  return (
    box !== null && box.y >= 0 && box.y + box.height <= height && box.x >= 0 && box.x + box.width <= width
  )
}

describe('scrubbing', () => {
  test('dragging on the timeline moves the playhead, dims what is ahead, and snaps to steps', async () => {
    const { page, close } = await openFailing()
    const plot = page.getByRole('slider', { name: 'Playhead' })
    const box = (await plot.boundingBox())!
    await page.mouse.move(box.x + 10, box.y + 50)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.15, box.y + 50, { steps: 4 })
    expect(await clock(page)).toBe('00:00.630')
    expect(await page.locator('.step-row.is-ahead').count()).toBe(5)
    await page.mouse.move(box.x + box.width * (1235 / 4200) + 2, box.y + 50, { steps: 2 })
    expect(await clock(page)).toBe('00:01.234')
    await page.mouse.up()
    expect(await selectedRow(page).innerText()).toContain('classify_intent')
    await expect
      .poll(async () => plot.getAttribute('aria-valuetext'))
      .toBe('00:01.234 of 00:04.200, step 3 of 7, classify_intent')
    await expect.poll(() => new URL(page.url()).searchParams.get('step')).not.toBeNull()
    await close()
  })

  test('Shift-drag selects a range, the wheel zooms, and a double-click shows the whole session', async () => {
    const { page, close } = await openFailing()
    const plot = page.getByRole('slider')
    const box = (await plot.boundingBox())!
    await page.keyboard.down('Shift')
    await page.mouse.move(box.x + box.width * 0.25, box.y + 60)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.5, box.y + 60, { steps: 3 })
    await page.mouse.up()
    await page.keyboard.up('Shift')
    expect(await page.locator('.transport-view').innerText()).toContain('00:01.050 – 00:02.100')
    await page.locator('.minimap').waitFor()
    await takeScreenshot(page, 'replay-zoomed-desktop-light')
    await plot.dblclick({ position: { x: 200, y: 60 } })
    expect(await page.locator('.transport-view').count()).toBe(0)
    await page.mouse.wheel(0, -300)
    await page.locator('.transport-view').waitFor()
    await page.keyboard.press('Escape')
    expect(await page.locator('.transport-view').count()).toBe(0)
    await close()
  })

  test('every control has a keyboard shortcut', async () => {
    const { page, close } = await openFailing()
    const press = async (key: string) => {
      await page.keyboard.press(key)
      return clock(page)
    }
    expect(await press('Home')).toBe('00:00.000')
    expect(await press('ArrowRight')).toBe('00:00.000')
    expect(await press('ArrowRight')).toBe('00:01.234')
    expect(await press('ArrowLeft')).toBe('00:00.000')
    expect(await press('Shift+ArrowRight')).toBe('00:01.000')
    expect(await press('End')).toBe('00:04.200')
    expect(await press('e')).toBe('00:01.890')
    expect(await press('Shift+E')).toBe('00:01.890')
    await press('/')
    expect(await page.evaluate('document.activeElement.id')).toBe('step-search')
    await page.keyboard.type('billing')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await press('?')
    expect(await page.getByRole('dialog').innerText()).toContain('Next or previous error')
    await takeScreenshot(page, 'replay-help-desktop-light')
    await page.keyboard.press('Escape')
    await page.getByRole('tree').focus()
    expect(await press('ArrowDown')).toBe('00:01.970')
    expect(await press('ArrowUp')).toBe('00:01.890')
    await close()
  })

  test('f folds, and Enter in the list unfolds', async () => {
    const { page, close } = await stage.open(`/sessions/${agents.traceId}`)
    await page.waitForSelector('.step-row')
    const all = await page.locator('.step-row').count()
    await page.keyboard.press('f')
    await expect.poll(() => page.locator('.step-row').count()).toBe(1)
    await page.getByRole('tree').focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('.step-row').count()).toBe(all)
    await close()
  })
})

describe('playing', () => {
  test('at 1× a session of 4.2 seconds takes 4.2 seconds, and streamed text grows at the pace it arrived', async () => {
    const context = await stage.browser.newContext({ viewport: { width: 1440, height: 900 } })
    const page = await context.newPage()
    await page.clock.install({ time: Date.now() })
    await page.goto(`${stage.server.url}/sessions/${failing.traceId}`)
    await page.waitForSelector('.step-row')
    await page.clock.pauseAt(Date.now() + 60_000)
    await page.keyboard.press('Home')
    await page.keyboard.press('Space')
    await page.clock.runFor(700)
    expect(Number((await clock(page)).slice(3))).toBeCloseTo(0.7, 1)
    expect(await page.locator('.step-row.is-running').count()).toBe(2)
    const grown = page.locator('.detail .streamed').first()
    await grown.waitFor()
    const early = await grown.innerText()
    expect(early).toMatch(/^I'll look into/)
    await takeScreenshot(page, 'replay-playing-desktop-light')
    await page.clock.runFor(400)
    const later = await grown.innerText()
    expect(later.startsWith(early)).toBe(true)
    expect(later.length).toBeGreaterThan(early.length)
    await page.clock.runFor(3000)
    expect(Number((await clock(page)).slice(3))).toBeCloseTo(4.1, 1)
    expect(await page.getByRole('button', { name: 'Pause' }).count()).toBe(1)
    await page.clock.runFor(200)
    expect(await clock(page)).toBe('00:04.200')
    expect(await page.getByRole('button', { name: 'Play', exact: true }).count()).toBe(1)
    await context.close()
  })

  test('J, K, L and the speed buttons control playback', async () => {
    const context = await stage.browser.newContext()
    const page = await context.newPage()
    await page.clock.install({ time: Date.now() })
    await page.goto(`${stage.server.url}/sessions/${agents.traceId}`)
    await page.waitForSelector('.step-row')
    await page.clock.pauseAt(Date.now() + 60_000)
    await page.getByRole('button', { name: '10×' }).click()
    await page.keyboard.press('l')
    await page.clock.runFor(1000)
    expect(Number((await clock(page)).slice(3))).toBeCloseTo(10, 0)
    await page.keyboard.press('k')
    const paused = await clock(page)
    await page.clock.runFor(500)
    expect(await clock(page)).toBe(paused)
    await page.keyboard.press('j')
    await page.clock.runFor(500)
    expect(Number((await clock(page)).slice(3))).toBeCloseTo(5, 0)
    await context.close()
  })
})

describe('viewing', () => {
  test('search finds text in names, previews and payloads, and reports how many steps it hides', async () => {
    const { page, close } = await stage.open(`/sessions/${agents.traceId}`)
    await page.waitForSelector('.step-row')
    await page.keyboard.press('/')
    await page.keyboard.type('neighbour says')
    await expect.poll(() => page.locator('.step-list-note').innerText()).toMatch(/1 step found, 26 hidden/)
    expect(await page.locator('.step-row').allInnerTexts()).toHaveLength(3)
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('neighbour says')
    await page.getByRole('button', { name: 'Show all' }).click()
    await page.getByRole('button', { name: 'All kinds' }).click()
    await page.getByRole('menuitem', { name: /retrieval/ }).click()
    expect(await page.locator('.step-list-note').innerText()).toMatch(/1 step found/)
    await close()
  })

  test('repeated steps are one row that unfolds', async () => {
    const { page, close } = await stage.open(`/sessions/${agents.traceId}`)
    const repeat = page.locator('.step-row', { hasText: '×14' })
    await repeat.waitFor()
    const before = await page.locator('.step-row').count()
    await repeat.locator('.step-row-fold').click()
    await expect.poll(() => page.locator('.step-row').count()).toBeGreaterThan(before + 5)
    await close()
  })

  test('the conversation marks the messages that are new since the previous call of the same agent', async () => {
    const { page, close } = await stage.open(`/sessions/${agents.traceId}`, {
      viewport: { width: 1200, height: 900 },
    })
    await page.locator('.step-row', { hasText: 'Mean SPF' }).click()
    await page.getByRole('tab', { name: 'Conversation' }).click()
    await expect.poll(() => page.locator('.message.is-new').count()).toBe(2)
    expect(await page.locator('.conversation-of').innerText()).toContain('2 new messages since')
    await page.locator('.message.is-new .step-link').first().click()
    expect(await selectedRow(page).innerText()).toContain('web_search')
    await takeScreenshot(page, 'replay-conversation-desktop-light')
    await close()
  })

  test('every tab of every step renders without errors', async () => {
    const { page, problems, close } = await stage.open(`/sessions/${agents.traceId}`, {
      viewport: { width: 1200, height: 900 },
    })
    await page.waitForSelector('.step-row')
    for (let index = 0; index < 12; index += 1) {
      await walkTabs(page)
      await page.getByRole('tree').focus()
      await page.keyboard.press('ArrowDown')
    }
    expect(problems).toEqual([])
    await close()
  })

  test('the error tab links from a step that passed on an error to the step that raised it', async () => {
    const { page, close } = await openFailing()
    await page.locator('.step-row', { hasText: 'support' }).first().click()
    await page.getByRole('tab', { name: 'Error' }).click()
    await page.locator('.detail-section', { hasText: 'Raised by' }).locator('.step-link').first().click()
    expect(await selectedRow(page).innerText()).toContain('fetch_customer_data')
    expect(await page.locator('.error-path').innerText()).toContain('support')
    await takeScreenshot(page, 'replay-error-tab-desktop-light')
    await close()
  })

  test('the export menu copies a link and a prompt for a coding agent', async () => {
    const context = await stage.browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
    const page = await context.newPage()
    await page.goto(`${stage.server.url}/sessions/${failing.traceId}`)
    await page.waitForSelector('.argument.is-problem')
    const copy = async (item: string) => {
      await page.getByRole('button', { name: 'Export' }).click()
      await page.getByRole('menuitem', { name: item }).click()
      await page.getByText(/copied$/).waitFor()
      return String(await page.evaluate('navigator.clipboard.readText()'))
    }
    expect(await copy('Copy link to this point')).toMatch(
      new RegExp(`^${stage.server.url}/sessions/${failing.traceId}\\?step=[0-9a-f]{16}$`),
    )
    const prompt = await copy('Copy as prompt for a coding agent')
    expect(prompt).toContain('`fetch_customer_data` (action)')
    expect(prompt).toContain('`customer_id`: null was passed  ← PROBLEM')
    expect(prompt).toContain('I was charged twice for my subscription')
    await context.close()
  })
})

describe('hostile content', () => {
  test('is shown as text everywhere and never violates the content security policy', async () => {
    const hostile = hostileSession()
    await stage.post(hostile)
    const { page, problems, close } = await stage.open(`/sessions/${hostile.traceId}`, {
      viewport: { width: 1250, height: 900 },
    })
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    await page.waitForSelector('.step-row')
    for (let index = 0; index < 3; index += 1) {
      await walkTabs(page, async () => {
        expect(await page.evaluate('globalThis.pwned')).toBeUndefined()
      })
      await page.getByRole('tree').focus()
      await page.keyboard.press('ArrowUp')
    }
    expect(await page.locator('h1').innerText()).toContain('<script>globalThis.pwned=1</script>')
    expect(
      await page.evaluate(
        'document.querySelectorAll("main script, main iframe, main [onerror], main [onload]").length',
      ),
    ).toBe(0)
    expect(
      await page.evaluate(
        '[...document.querySelectorAll("main a")].filter((a) => /^javascript/i.test(a.href)).length',
      ),
    ).toBe(0)
    expect(requests.filter((url) => !url.startsWith(stage.server.url))).toEqual([])
    expect(problems).toEqual([])
    expect(HOSTILE).toContain('onerror')
    await takeScreenshot(page, 'replay-hostile-desktop-light')
    await close()
  })
})
