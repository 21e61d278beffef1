import { expect, test } from 'vitest'
import { takeLoopsOnce } from './build-graph.ts'

test('rounds of a loop are one, other steps stay', () => {
  const taken = (path: string) => takeLoopsOnce(path.split('')).join('')
  expect(['aaab', 'xababac', 'abcabcabcd', 'abcd', ''].map(taken)).toEqual([
    'ab',
    'xabac',
    'abcd',
    'abcd',
    '',
  ])
})
