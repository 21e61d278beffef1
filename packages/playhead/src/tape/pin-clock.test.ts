import { afterEach, expect, test } from 'vitest'
import { preciseNowMs } from '../record/opentelemetry/clock.ts'
import { setTape, withTape, type ActiveTape } from '../record/session/active-tape.ts'
import { playTape } from './play-tape.ts'

afterEach(() => setTape(undefined))

const createTape = (): ActiveTape => ({
  isStrict: true,
  respond: () => ({ kind: 'live' }),
  act: () => ({ kind: 'run' }),
})
const at = Date.parse('2025-03-04T05:06:07.000Z')
const DateTakenBefore = Date

test('Date begins at the recorded time and goes on; our own clock stays true', () => {
  const trueMs = Date.now()
  const tape = createTape()
  setTape(() => tape)
  const { stop, unpinClock } = playTape(tape, { clockAt: at })
  for (const nowMs of [Date.now(), new Date().getTime(), DateTakenBefore.now(), Date.parse(Date())])
    expect(Math.abs(nowMs - at)).toBeLessThan(60_000)
  expect(new Date(5).getTime()).toBe(5)
  expect(new Date()).toBeInstanceOf(DateTakenBefore)
  expect(new Date().constructor).toBe(Date)
  class Later extends Date {}
  expect(new Later().toISOString()).toMatch(/^2025-03-04/)
  expect(Date.UTC(2025, 0)).toBe(DateTakenBefore.UTC(2025, 0))
  expect(preciseNowMs()).toBeGreaterThanOrEqual(trueMs)
  unpinClock()
  expect(Date.now()).toBeGreaterThanOrEqual(trueMs)
  stop()
  expect(Date).toBe(DateTakenBefore)
  expect(new Date().constructor).toBe(DateTakenBefore)
})

test('runs at the same time have a clock each', async () => {
  const years = await Promise.all(
    [2001, 2002, undefined].map((year) => {
      const tape = createTape()
      const { stop } = playTape(tape, { clockAt: year === undefined ? undefined : Date.UTC(year, 5) })
      return withTape(tape, async () => {
        await Promise.resolve()
        return new Date().getUTCFullYear()
      }).finally(stop)
    }),
  )
  expect(years).toEqual([2001, 2002, new Date().getUTCFullYear()])
})
