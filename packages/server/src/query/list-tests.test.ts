import type { EndState } from '@playhead/model'
import { expect, test } from 'vitest'
import { isFlaky } from './list-tests.ts'

const runs = (states: string, facts: { commit?: string; runId?: string; variant?: string } = {}) =>
  Array.from(states, (letter) => ({
    endState: ({ p: 'success', f: 'fail', r: 'running' } as const)[letter] as EndState,
    ...facts,
  }))

test('passing and failing at one commit is flaky', () => {
  expect(isFlaky(runs('ppfp', { commit: 'a' }))).toBe(true)
  expect(isFlaky(runs('pf', { runId: '1' }))).toBe(true)
})

test('a test that broke, or was mended, between commits is not', () => {
  expect(isFlaky([...runs('ppp', { commit: 'a' }), ...runs('fff', { commit: 'b' })])).toBe(false)
})

test('an input that always fails beside one that always passes is not', () => {
  expect(
    isFlaky([
      ...runs('ppp', { commit: 'a', variant: 'one' }),
      ...runs('fff', { commit: 'a', variant: 'two' }),
    ]),
  ).toBe(false)
})

test('without a commit, one change may be a fix; two are not', () => {
  expect(isFlaky(runs('pppf'))).toBe(false)
  expect(isFlaky(runs('pfpp'))).toBe(true)
})

test('what has not ended says nothing', () => {
  expect(isFlaky(runs('prrp', { commit: 'a' }))).toBe(false)
})
