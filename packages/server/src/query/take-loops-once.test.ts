import { expect, test } from 'vitest'
import { takeLoopsOnce } from './take-loops-once.ts'

test('rounds of a loop are one, other steps stay', () => {
  expect(takeLoopsOnce([...'aaab'])).toEqual([...'ab'])
  expect(takeLoopsOnce([...'xababac'])).toEqual([...'xabac'])
  expect(takeLoopsOnce([...'abcabcabcd'])).toEqual([...'abcd'])
  expect(takeLoopsOnce([...'abcd'])).toEqual([...'abcd'])
  expect(takeLoopsOnce([])).toEqual([])
})
