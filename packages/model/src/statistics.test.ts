import { expect, test } from 'vitest'
import { wilson } from './statistics.ts'

const rounded = (passed: number, total: number, confidence?: number) => {
  const { low, high } = wilson(passed, total, confidence)
  return [low, high].map((value) => Math.round(value * 1_000) / 1_000)
}

test.each([
  [10, 10, 0.722, 1],
  [18, 20, 0.699, 0.972],
  [20, 20, 0.839, 1],
  [0, 10, 0, 0.278],
  [1, 2, 0.095, 0.905],
  [500, 1_000, 0.469, 0.531],
])('%i of %i passed: between %f and %f with 95 %% confidence', (passed, total, low, high) => {
  expect(rounded(passed, total, 0.95)).toEqual([low, high])
})

test('more confidence is a wider interval', () => {
  expect(rounded(18, 20, 0.8)).toEqual([0.782, 0.958])
  expect(rounded(18, 20, 0.99)).toEqual([0.621, 0.98])
  expect(rounded(10, 10, 0.999)).toEqual([0.48, 1])
})

test('nothing tried says nothing', () => {
  expect(wilson(0, 0)).toEqual({ low: 0, high: 1 })
})

test('what can not be is refused', () => {
  expect(() => wilson(3, 2)).toThrow(RangeError)
  expect(() => wilson(-1, 2)).toThrow(RangeError)
  expect(() => wilson(1, 2, 1)).toThrow(RangeError)
})
