import { expect, test } from 'vitest'
import { durationRange, numberRange, parseTime } from './filter-value.ts'

test.each([
  ['>0.01', { min: 0.01, isMinOpen: true }],
  ['>=1', { min: 1, isMinOpen: false }],
  ['<$5', { max: 5, isMaxOpen: true }],
  ['0.01..0.05', { min: 0.01, max: 0.05 }],
  ['3', { min: 3, max: 3 }],
  ['cheap', undefined],
  ['', undefined],
])('numbers: %s', (text, range) => {
  expect(numberRange(text)).toEqual(range)
})

test.each([
  ['>2s', { min: 2_000, isMinOpen: true }],
  ['1m..5m', { min: 60_000, max: 300_000 }],
  ['250', { min: 250, max: 250 }],
  ['long', undefined],
])('durations: %s', (text, range) => {
  expect(durationRange(text)).toEqual(range)
})

test.each([
  ['24h', 1_000_000_000_000 - 86_400_000],
  ['2020-01-02T03:04:05Z', Date.UTC(2020, 0, 2, 3, 4, 5)],
  ['1600000000000', 1_600_000_000_000],
  ['yesterday', undefined],
])('times: %s', (text, timeMs) => {
  expect(parseTime(text, 1_000_000_000_000)).toBe(timeMs)
})
