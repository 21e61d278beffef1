import { expect, test } from 'vitest'
import { brushedBuckets, highestOf, stackBars, stepPath } from './chart-geometry.ts'

const series = [
  { name: 'good', color: 'green', values: [1, 0, 3] },
  { name: 'bad', color: 'red', values: [1, null, 1] },
]

test('the maximum of stacked series is that of their sums', () => {
  expect(highestOf(series, true)).toBe(4)
  expect(highestOf(series, false)).toBe(3)
  expect(highestOf([], true)).toBe(0)
})

test('stacks bars, and draws none for zero', () => {
  expect(stackBars(series, 4)).toEqual([
    { series: 0, index: 0, bottom: 0, height: 0.25 },
    { series: 0, index: 2, bottom: 0, height: 0.75 },
    { series: 1, index: 0, bottom: 0.25, height: 0.25 },
    { series: 1, index: 2, bottom: 0.75, height: 0.25 },
  ])
  expect(stackBars(series, 0)).toEqual([])
})

test('a line breaks where there is no value, and a single value is visible', () => {
  expect(stepPath([1, 2, null, 2], 2, 10)).toBe('M0 5H1V0H2M3 0H4')
  expect(stepPath([null, null], 2, 10)).toBe('')
  expect(stepPath([0], 0, 10)).toBe('M0 10H1')
})

test('a drag covers whole buckets, in either direction', () => {
  expect(brushedBuckets(0.26, 0.6, 4)).toEqual({ first: 1, last: 2 })
  expect(brushedBuckets(0.6, 0.26, 4)).toEqual({ first: 1, last: 2 })
  expect(brushedBuckets(0.25, 0.5, 4)).toEqual({ first: 1, last: 1 })
  expect(brushedBuckets(-1, 9, 4)).toEqual({ first: 0, last: 3 })
  expect(brushedBuckets(0, 1, 0)).toBeUndefined()
})
