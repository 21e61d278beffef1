import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startStage, type Stage } from './browser.ts'
import { longSession } from './sample-extremes.ts'

const STEPS = 4_000
const LEFT_OUT = 2_400

let stage: Stage
const before = longSession(STEPS)
const after = longSession(STEPS)
const dropped = after.spans.splice(LEFT_OUT, 1)[0]!

beforeAll(async () => {
  stage = await startStage()
  await stage.post(before)
  await stage.post(after)
  await vi.waitFor(
    async () => {
      for (const { traceId } of [before, after]) {
        const { steps } = await stage.server.session(traceId, 'payloads=none')
        if (steps.length < STEPS - 1) throw new Error(`only ${steps.length} steps are readable so far`)
      }
    },
    { timeout: 60_000, interval: 500 },
  )
})
afterAll(() => stage.stop())

test('two sessions of 4,000 steps open at the step that differs, and scroll without blank rows', async () => {
  const { page, problems, close } = await stage.open(`/compare?a=${before.traceId}&b=${after.traceId}`)
  await page.locator('.aligned-row.is-divergence').waitFor()
  expect(await page.locator('.divergence-first').innerText()).toContain(`step ${LEFT_OUT + 1} `)
  expect(dropped.name).toBeDefined()
  expect(await page.locator('.aligned-row').count()).toBeLessThan(80)
  const frames = (await page.evaluate(scrollForAWhile)) as { worstMs: number; p95Ms: number; blank: number }
  console.log(`scrolling 4,000 aligned rows: p95 ${frames.p95Ms} ms per frame, worst ${frames.worstMs} ms`)
  expect(frames.blank).toBe(0)
  expect(problems).toEqual([])
  await close()
})

/** Runs in the page: scrolls in every frame, then looks for rows that are not rendered. */
const scrollForAWhile = `(async () => {
  const scroller = document.querySelector('.aligned-scroller')
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  const times = []
  let blank = 0
  let last = await frame()
  for (let index = 0; index < 90; index += 1) {
    scroller.scrollTop += 120
    const now = await frame()
    times.push(now - last)
    last = now
  }
  await frame()
  await frame()
  const box = scroller.getBoundingClientRect()
  const rows = [...document.querySelectorAll('.aligned-row')].map((row) => row.getBoundingClientRect())
  for (let y = box.top + 17; y < box.bottom - 17; y += 34)
    if (!rows.some((row) => row.top <= y && row.bottom >= y)) blank += 1
  times.sort((one, other) => one - other)
  return { worstMs: Math.round(times.at(-1)), p95Ms: Math.round(times[Math.floor(times.length * 0.95)]), blank }
})()`
