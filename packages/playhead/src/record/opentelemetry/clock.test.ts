import { afterEach, beforeEach, expect, test, vi } from 'vitest'

/** Loads the clock with a system clock and a monotonic clock that the test controls. */
async function clockOver(clocks: { systemMs: number; processMs: number }) {
  vi.resetModules()
  vi.spyOn(Date, 'now').mockImplementation(() => Math.floor(clocks.systemMs))
  vi.spyOn(performance, 'now').mockImplementation(() => clocks.processMs)
  const { preciseNowMs } = await import('./clock.ts')
  return preciseNowMs
}

let clocks: { systemMs: number; processMs: number }

beforeEach(() => {
  clocks = { systemMs: performance.timeOrigin + 1_000, processMs: 1_000 }
})

afterEach(() => {
  vi.restoreAllMocks()
})

test('times are strictly increasing', async () => {
  const now = await clockOver(clocks)
  const moments = Array.from({ length: 100 }, now)
  expect(moments).toEqual([...new Set(moments)].toSorted((left, right) => left - right))
})

test('a pause between reading the two clocks is not a clock jump', async () => {
  const now = await clockOver(clocks)
  const first = now()
  vi.mocked(performance.now).mockImplementationOnce(() => {
    clocks.systemMs += 50
    return (clocks.processMs += 50)
  })
  const afterPause = now()
  clocks.systemMs += 1
  clocks.processMs += 1
  const last = now()
  expect([afterPause - first, last - afterPause].map(Math.round)).toEqual([50, 1])
})

test.each([-3_600_000, 3_600_000])('it follows a system clock that is changed by %i ms', async (byMs) => {
  const now = await clockOver(clocks)
  const before = now()
  clocks.systemMs += byMs
  expect(Math.abs(now() - before - byMs)).toBeLessThan(2)
})
