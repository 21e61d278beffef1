import { expect, test } from 'vitest'
import { intervalFor, isTimeZone } from './stats.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

test.each([
  [0, 'minute'],
  [HOUR, 'minute'],
  [6 * HOUR, '5-minutes'],
  [24 * HOUR, '15-minutes'],
  [4 * DAY, 'hour'],
  [7 * DAY, '6-hours'],
  [30 * DAY, 'day'],
  [365 * DAY, 'week'],
  [3_000 * DAY, 'month'],
  [50_000 * DAY, 'month'],
])('%i ms are grouped by %s', (spanMs, interval) => {
  expect(intervalFor(spanMs)).toBe(interval)
})

test('recognizes time zones', () => {
  expect(isTimeZone('Europe/Berlin')).toBe(true)
  expect(isTimeZone('Mars/Olympus')).toBe(false)
})
