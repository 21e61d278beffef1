import { afterEach, beforeEach, expect, test, vi } from 'vitest'

/** The clock anew, over a system clock and a process clock that are set by hand. */
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

test('no moment comes twice', async () => {
  const now = await clockOver(clocks)
  const moments = Array.from({ length: 100 }, now)
  expect(moments).toEqual([...new Set(moments)].toSorted((left, right) => left - right))
})

test('a pause between its two readings is no jump of the clock', async () => {
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

test.each([-3_600_000, 3_600_000])('a system clock that is set by %i ms is followed', async (byMs) => {
  const now = await clockOver(clocks)
  const before = now()
  clocks.systemMs += byMs
  expect(Math.abs(now() - before - byMs)).toBeLessThan(2)
})
