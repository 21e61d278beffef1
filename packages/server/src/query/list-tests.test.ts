import type { EndState } from '@playhead/model'
import { expect, test } from 'vitest'
import { isFlaky } from './list-tests.ts'

const runs = (states: string, facts: { commit?: string; runId?: string; variant?: string } = {}) =>
  Array.from(states, (letter) => ({
    endState: ({ p: 'success', f: 'fail', r: 'running' } as const)[letter] as EndState,
    ...facts,
  }))

test('is flaky if it passed and failed at the same commit', () => {
  expect(isFlaky(runs('ppfp', { commit: 'a' }))).toBe(true)
  expect(isFlaky(runs('pf', { runId: '1' }))).toBe(true)
})

test('is not flaky if it broke or was fixed between commits', () => {
  expect(isFlaky([...runs('ppp', { commit: 'a' }), ...runs('fff', { commit: 'b' })])).toBe(false)
})

test('is not flaky if one input always fails and another always passes', () => {
  expect(
    isFlaky([
      ...runs('ppp', { commit: 'a', variant: 'one' }),
      ...runs('fff', { commit: 'a', variant: 'two' }),
    ]),
  ).toBe(false)
})

test('without a commit, one change of outcome may be a fix, but two are flaky', () => {
  expect(isFlaky(runs('pppf'))).toBe(false)
  expect(isFlaky(runs('pfpp'))).toBe(true)
})

test('ignores runs that have not ended', () => {
  expect(isFlaky(runs('prrp', { commit: 'a' }))).toBe(false)
})
