import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Page } from '@playwright/test'
import { startStage, takeScreenshot, type OpenPage, type Stage } from './browser.ts'
import { heavySession, longSession } from './sample-extremes.ts'

const STEPS = 20_000

let stage: Stage
const long = longSession(STEPS)
const heavy = heavySession()

beforeAll(async () => {
  stage = await startStage()
  await stage.post(heavy)
  await stage.post(long)
  // Bulk data takes a moment to become readable.
  await vi.waitFor(
    async () => {
      const { steps } = await stage.server.session(long.traceId, 'payloads=none')
      if (steps.length < STEPS) throw new Error(`only ${steps.length} steps can be read so far`)
    },
    { timeout: 120_000, interval: 1_000 },
  )
}, 300_000)

afterAll(() => stage.stop())

/** Counts the visible rows that are missing. */
function countBlank(page: Page): Promise<number> {
  return page.evaluate(`(() => {
    const scroller = document.querySelector('.step-list-scroller').getBoundingClientRect()
    const rows = [...document.querySelectorAll('.step-row')].map((row) => row.getBoundingClientRect())
    let blank = 0
    for (let y = scroller.top + 16; y < scroller.bottom - 16; y += 32)
      if (!rows.some((row) => row.top <= y && row.bottom >= y)) blank += 1
    return blank
  })()`) as Promise<number>
}

describe('a session of 20,000 steps', () => {
  let page: Page
  let opened: OpenPage
  beforeAll(async () => {
    opened = await stage.open(`/sessions/${long.traceId}`)
    page = opened.page
    await page.locator('.step-row.is-selected').waitFor()
  })
  afterAll(() => opened.close())

  test('opens on its failure near the end', async () => {
    expect(await page.locator('.step-row.is-selected').innerText()).toContain('run_tests')
    await page.locator('.argument.is-problem').waitFor()
    expect(await page.locator('.transport-count').innerText()).toContain('of 20,000')
    expect(await page.locator('.step-row').count()).toBeLessThan(80)
    await takeScreenshot(page, 'replay-20000-steps-desktop-light')
  })

  test('scrolls without blank rows', async () => {
    for (const share of [0, 0.1, 0.35, 0.9, 1, 0.5]) {
      await page.evaluate(
        `new Promise((resolve) => { const list = document.querySelector('.step-list-scroller'); list.scrollTop = list.scrollHeight * ${share}; requestAnimationFrame(() => requestAnimationFrame(resolve)) })`,
      )
      expect(await countBlank(page)).toBe(0)
    }
  })

  test('shows the previews of the rows on the screen', async () => {
    for (const share of [0.2, 0.8]) {
      await page.evaluate(
        `(() => { const list = document.querySelector('.step-list-scroller'); list.scrollTop = list.scrollHeight * ${share} })()`,
      )
      await expect.poll(() => page.locator('.step-row:not(.is-bad) .step-row-preview:empty').count()).toBe(0)
      expect(await page.locator('.step-row-preview').count()).toBeGreaterThan(10)
    }
  })

  test('is searched by name and preview, and the page says so', async () => {
    await page.keyboard.press('/')
    await page.keyboard.type('run_tests')
    await expect.poll(() => page.locator('.step-list-note').innerText()).toContain('1 step found')
    await expect.poll(() => page.locator('.step-list-note').innerText()).toContain('names and previews only')
    await page.getByRole('button', { name: 'Show all' }).click()
    await expect.poll(() => page.locator('.step-row').count()).toBeGreaterThan(5)
  })

  test('can be scrubbed from start to end', async () => {
    const box = (await page.getByRole('slider').boundingBox())!
    await page.mouse.move(box.x + 2, box.y + 40)
    await page.mouse.down()
    for (let share = 0; share <= 1; share += 0.1) await page.mouse.move(box.x + box.width * share, box.y + 40)
    await page.mouse.up()
    const position = async () =>
      Number((await page.locator('.transport-count b').innerText()).replaceAll(',', ''))
    await expect.poll(position).toBeGreaterThan(19_800)
    expect(await page.locator('.step-row.is-selected').count()).toBe(1)
    expect(opened.problems).toEqual([])
  })
})

describe('a payload of five megabytes', () => {
  test('is truncated, expands on demand, and the page stays responsive', async () => {
    const { page, problems, close } = await stage.open(`/sessions/${heavy.traceId}`, {
      viewport: { width: 1200, height: 900 },
    })
    await page.locator('.step-row', { hasText: 'gpt-4o' }).click()
    const more = page.getByRole('button', { name: /show all 5\.0 MB/ }).first()
    await more.waitFor()
    await more.click()
    // The page still responds while the text loads.
    await page.keyboard.press('ArrowRight')
    await page.locator('.step-row.is-selected', { hasText: 'list_rows' }).waitFor()
    await page.keyboard.press('ArrowLeft')
    await more.click()
    await expect.poll(() => page.locator('.long-text-piece').count()).toBeGreaterThan(100)
    await page.getByRole('tab', { name: 'Raw' }).click()
    await page
      .getByRole('button', { name: /show all/ })
      .first()
      .waitFor()
    expect(problems).toEqual([])
    await close()
  })

  test('shows long lists in parts', async () => {
    const { page, close } = await stage.open(`/sessions/${heavy.traceId}`)
    await page.locator('.step-row', { hasText: 'list_rows' }).click()
    await page.getByRole('button', { name: /show 1,000 more of 19,900/ }).click()
    const more = page.getByRole('button', { name: /show 1,000 more of 18,900/ })
    await more.waitFor()
    expect(await more.count()).toBe(1)
    await close()
  })
})
