import type { Page } from '@playwright/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hex, tracesPayload } from '../packages/server/test/otlp.ts'
import { startStage, type Stage } from './browser.ts'
import { HOSTILE, hostileSession } from './sample-extremes.ts'
import { listedSession, manySessions } from './sample-lists.ts'

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
})
afterAll(() => stage.stop())

const HOUR = 3_600_000

async function freshProject(): Promise<string> {
  const id = `p${hex(4)}`
  await stage.server.services.registry.createProject({ id, name: id })
  return id
}

async function post(project: string, ...sessions: Parameters<typeof listedSession>[0][]): Promise<void> {
  const response = await stage.server.request('/v1/traces', {
    json: tracesPayload(sessions.flatMap(listedSession)),
    headers: { 'x-playhead-project': project },
  })
  expect(response.status).toBe(200)
}

const names = (page: Page) => page.locator('.session-rows .session-title a').allTextContents()
const rows = (page: Page) => page.locator('.session-rows .session-row')
const box = (page: Page) => page.getByRole('combobox', { name: 'Filter sessions' })
const query = (page: Page) => new URL(page.url()).searchParams

describe('filters', () => {
  let project: string
  beforeAll(async () => {
    project = await freshProject()
    const now = Date.now()
    await post(
      project,
      {
        name: 'Refund',
        startMs: now - HOUR,
        tags: ['support', 'v2.1'],
        isFailed: true,
        tool: 'issue_refund',
      },
      { name: 'Order', startMs: now - 2 * HOUR, tags: ['support'], prompt: 'I was charged twice' },
      {
        name: 'Flight',
        startMs: now - 50 * HOUR,
        tags: ['travel'],
        durationMs: 90_000,
        tokens: [90_000, 9_000],
      },
    )
  })

  test('become chips, are in the address, and survive a reload and the back button', async () => {
    const { page, problems, close } = await stage.open(`/sessions?project=${project}`)
    await expect.poll(() => names(page)).toEqual(['Refund', 'Order', 'Flight'])

    await page.keyboard.press('/')
    await page.keyboard.type('tag:support')
    await page.keyboard.press('Enter')
    await expect.poll(() => names(page)).toEqual(['Refund', 'Order'])
    await page.keyboard.type('status:fail ')
    await expect.poll(() => names(page)).toEqual(['Refund'])
    expect(query(page).get('q')).toBe('tag:support status:fail')
    expect(query(page).get('project')).toBe(project)

    await page.reload()
    await expect.poll(() => names(page)).toEqual(['Refund'])
    expect(await page.locator('.filter-chip').allTextContents()).toEqual(['tag:support', 'status:fail'])
    await page.goBack()
    await expect.poll(() => names(page)).toEqual(['Refund', 'Order'])

    await box(page).focus()
    await page.keyboard.press('Backspace')
    await expect.poll(() => names(page)).toEqual(['Refund', 'Order', 'Flight'])
    expect(query(page).get('q')).toBeNull()
    expect(problems).toEqual([])
    await close()
  })

  test('suggest keys, then stored values, by keyboard', async () => {
    const { page, close } = await stage.open(`/sessions?project=${project}`)
    await box(page).focus()
    await page.keyboard.type('too')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    expect(await box(page).inputValue()).toBe('tool:')
    const option = page.getByRole('option', { name: /issue_refund/ })
    await option.waitFor()
    await page.keyboard.type('iss')
    await expect.poll(() => page.getByRole('option').allTextContents()).toEqual(['issue_refund1 session'])
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await expect.poll(() => names(page)).toEqual(['Refund'])
    expect(query(page).get('q')).toBe('tool:issue_refund')
    await close()
  })

  test('that are invalid show a problem, and the others still apply', async () => {
    const { page, close } = await stage.open(`/sessions?project=${project}&q=cost:cheap+tag:travel`)
    await expect.poll(() => names(page)).toEqual(['Flight'])
    expect(await page.locator('.filter-problems').textContent()).toContain(
      '“cheap” is not an amount in dollars',
    )
    await close()
  })

  test('that match nothing offer to clear the filter', async () => {
    const { page, close } = await stage.open(`/sessions?project=${project}&q=tag:nowhere&from=24h`)
    await page.getByText('No matching sessions').waitFor()
    await page.getByRole('button', { name: 'Clear filter' }).last().click()
    await expect.poll(() => names(page)).toEqual(['Refund', 'Order'])
    expect(query(page).get('from')).toBe('24h')
    await close()
  })

  test('filter by preset, by dragging over a chart and by quoted text, and sort by column', async () => {
    const { page, close } = await stage.open(`/sessions?project=${project}`)
    await page.getByRole('radio', { name: 'Last 24 hours' }).click()
    await expect.poll(() => names(page)).toEqual(['Refund', 'Order'])
    await page.getByRole('radio', { name: 'All time' }).click()
    await expect.poll(() => names(page)).toHaveLength(3)

    await page.getByRole('button', { name: 'Duration' }).click()
    await expect.poll(async () => (await names(page))[0]).toBe('Flight')
    expect(query(page).get('sort')).toBe('duration')

    await page.goto(`${stage.server.url}/sessions?project=${project}&q="charged twice"`)
    await expect.poll(() => names(page)).toEqual(['Order'])

    await page.goto(`${stage.server.url}/sessions?project=${project}`)
    await expect.poll(() => page.locator('.chart-panel strong').first().textContent()).toBe('3')
    const chart = (await page.locator('.bucket-chart').first().boundingBox())!
    await page.mouse.move(chart.x + 1, chart.y + 20)
    await page.mouse.down()
    await page.mouse.move(chart.x + chart.width * 0.3, chart.y + 20, { steps: 4 })
    await page.mouse.up()
    await expect.poll(() => names(page)).toEqual(['Flight'])
    expect(query(page).get('from')).toMatch(/^\d{4}-/)
    expect(query(page).get('to')).toMatch(/^\d{4}-/)
    await close()
  })

  test('a click on a tag adds it', async () => {
    const { page, close } = await stage.open(`/sessions?project=${project}`)
    await page.getByRole('button', { name: 'travel', exact: true }).click()
    await expect.poll(() => names(page)).toEqual(['Flight'])
    expect(query(page).get('q')).toBe('tag:travel')
    await close()
  })

  test('are saved as named views', async () => {
    const { page, close } = await stage.open(`/sessions?project=${project}&q=status:fail`)
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByLabel('Save this view as').fill('What fails')
    await page.keyboard.press('Enter')
    await page.goto(`${stage.server.url}/sessions?project=${project}`)
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('button', { name: 'What fails', exact: false }).first().click()
    await expect.poll(() => names(page)).toEqual(['Refund'])
    expect(query(page).get('q')).toBe('status:fail')
    await close()
  })
})

describe('live', () => {
  test('a session appears at once, is updated in place, and nothing moves under the cursor', async () => {
    const project = await freshProject()
    const now = Date.now()
    await post(project, { name: 'First', startMs: now - 60_000 })
    const { page, problems, close } = await stage.open(`/sessions?project=${project}`)
    await expect.poll(() => names(page)).toEqual(['First'])

    const traceId = hex(16)
    const running = { name: 'Second', startMs: Date.now(), traceId }
    await post(project, { ...running, hasEnded: false })
    await expect.poll(() => names(page)).toEqual(['Second', 'First'])
    expect(await rows(page).first().textContent()).toContain('Running')

    await rows(page).first().hover()
    await post(project, { name: 'Third', startMs: Date.now() + 10 })
    await page.getByRole('button', { name: '1 new' }).waitFor()
    expect(await names(page)).toEqual(['Second', 'First'])
    // By keyboard: a mouse on its way to the button would leave the rows, which unpauses the list.
    await page.getByRole('button', { name: '1 new' }).press('Enter')
    await expect.poll(() => names(page)).toEqual(['Third', 'Second', 'First'])
    expect(problems).toEqual([])
    await close()
  })

  test('the first session of a project replaces the instructions', async () => {
    const project = await freshProject()
    const { page, close } = await stage.open(`/sessions?project=${project}`)
    await page.getByRole('heading', { name: 'Record your first session' }).waitFor()
    await post(project, { name: 'Hello', startMs: Date.now() })
    await expect.poll(() => names(page)).toEqual(['Hello'])
    await close()
  })

  test('sessions that do not match the filter do not appear', async () => {
    const project = await freshProject()
    await post(project, { name: 'Tagged', startMs: Date.now() - 5_000, tags: ['a'] })
    const { page, close } = await stage.open(`/sessions?project=${project}&q=tag:a`)
    await expect.poll(() => names(page)).toEqual(['Tagged'])
    await post(
      project,
      { name: 'Other', startMs: Date.now() },
      { name: 'Mine', startMs: Date.now(), tags: ['a'] },
    )
    await expect.poll(() => names(page)).toEqual(['Mine', 'Tagged'])
    await close()
  })
})

test('hundreds of sessions load page by page, and only visible rows are rendered', async () => {
  const project = await freshProject()
  const spans = manySessions(300)
  for (let at = 0; at < spans.length; at += 1_500)
    await stage.server.request('/v1/traces', {
      json: tracesPayload(spans.slice(at, at + 1_500)),
      headers: { 'x-playhead-project': project },
    })
  const { page, problems, close } = await stage.open(`/sessions?project=${project}`)
  await rows(page).first().waitFor()
  await expect.poll(() => page.locator('.chart-panel strong').first().textContent()).toBe('300')

  const lastIndex = async () => Number(await rows(page).last().getAttribute('data-index'))
  for (let reached = await lastIndex(); reached < 299; reached = await lastIndex()) {
    await page.evaluate("document.querySelector('.sessions-page').scrollBy({ top: 3000 })")
    await expect.poll(lastIndex).toBeGreaterThan(reached)
    expect(await rows(page).count()).toBeLessThan(60)
  }

  await rows(page).last().focus()
  await page.keyboard.press('Home')
  await expect.poll(() => page.evaluate('document.activeElement.dataset.index')).toBe('0')
  expect(problems).toEqual([])
  await close()
})

test('sessions are selected by keyboard, exported and deleted', async () => {
  const project = await freshProject()
  const now = Date.now()
  await post(
    project,
    ...['a', 'b', 'c', 'd'].map((name, index) => ({ name, startMs: now - (index + 1) * 10_000 })),
  )
  const { page, close } = await stage.open(`/sessions?project=${project}`)
  await expect.poll(() => names(page)).toEqual(['a', 'b', 'c', 'd'])
  await rows(page).first().focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('x')
  await page.keyboard.press('Shift+ArrowDown')
  await page.getByText('2 selected').waitFor()

  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export' }).click()
  expect((await download).suggestedFilename()).toBe('2-sessions.playhead.ndjson')

  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete 2 sessions' }).click()
  await expect.poll(() => names(page)).toEqual(['a', 'd'])
  expect(await stage.server.sessions(`project=${project}`)).toHaveLength(2)
  await close()
})

test('markup in names, tags, prompts and errors is shown as text', async () => {
  const hostile = hostileSession()
  await stage.post(hostile)
  const { page, problems, close } = await stage.open('/sessions')
  await rows(page).first().waitFor()
  // The server escapes control characters; everything else is unchanged.
  expect((await names(page))[0]).toContain('<img src=x onerror="globalThis.pwned=1">')
  const byTag = `/sessions?q=${encodeURIComponent(`tag:"${HOSTILE.replaceAll('"', '\\"')}"`)}`
  for (const [path, isThere] of [
    ['/overview?from=all', '.top-errors'],
    ['/tests', '.no-tests'],
    [byTag, '.session-rows .session-row'],
  ] as const) {
    await page.goto(`${stage.server.url}${path}`)
    await page.locator(isThere).first().waitFor()
  }
  await box(page).fill('tag:')
  await page.getByRole('option').first().waitFor()
  expect(await page.evaluate('globalThis.pwned')).toBeUndefined()
  expect(await page.locator('main script, main img, main svg[onload]').count()).toBe(0)
  expect(problems).toEqual([])
  await close()
})
