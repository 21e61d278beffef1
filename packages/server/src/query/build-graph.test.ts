import { expect, test } from 'vitest'
import { collapseLoops } from './build-graph.ts'

test('collapses repetitions of a loop and keeps all other steps', () => {
  const collapsed = (path: string) => collapseLoops(path.split('')).join('')
  expect(['aaab', 'xababac', 'abcabcabcd', 'abcd', ''].map(collapsed)).toEqual([
    'ab',
    'xabac',
    'abcd',
    'abcd',
    '',
  ])
})
