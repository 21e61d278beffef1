import { expect, test } from 'vitest'
import { durationRange, numberRange, parseScoreFilter, parseTime } from './filter-value.ts'

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

test.each([
  ['helpful>=0.8', { name: 'helpful', range: { min: 0.8, isMinOpen: false } }],
  ['helpful : 0.5..0.8', { name: 'helpful', range: { min: 0.5, max: 0.8 } }],
  ['answer quality<-1', { name: 'answer quality', range: { max: -1, isMaxOpen: true } }],
  ['verdict=wrong', { name: 'verdict', word: 'wrong' }],
  ['safe=yes', { name: 'safe', range: { min: 1, max: 1 } }],
  ['safe:false', { name: 'safe', range: { min: 0, max: 0 } }],
  ['helpful', { name: 'helpful' }],
  ['!verdict', { name: 'verdict', isAbsent: true }],
  ['!verdict=wrong', undefined],
  ['helpful>good', undefined],
  ['>0.5', undefined],
  ['', undefined],
])('scores: %s', (text, filter) => {
  expect(parseScoreFilter(text)).toEqual(filter)
})
