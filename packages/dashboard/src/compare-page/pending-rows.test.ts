import { expect, test } from 'vitest'
import { alignSessions } from '@playhead/model'
import { makeSession } from '../../test/make-session.ts'
import { lastReachedRow, withoutPending } from './pending-rows.ts'

const steps = ['classify', 'fetch', 'refund', 'reply'].map((id, index) => ({
  id,
  parentId: 'support',
  offsetMs: index * 10,
  output: id,
  hasPayload: true,
  ...(id === 'refund' && { effect: 'write' as const }),
}))
const root = { id: 'support', kind: 'agent' as const, hasPayload: true, output: 'done', durationMs: 50 }
const whole = makeSession([root, ...steps], { id: 'a'.repeat(32), endState: 'fail' })

const runningUpTo = (count: number, change = {}) =>
  makeSession(
    [
      { ...root, durationMs: null, output: undefined },
      ...steps.slice(0, count).map((step) => ({ ...step, ...change })),
    ],
    { id: 'b'.repeat(32), endState: 'running' },
  )

const compare = (b: ReturnType<typeof runningUpTo>) =>
  withoutPending(alignSessions(whole, b), { a: false, b: b.session.endState === 'running' })

test('steps that a running session has not reached are no difference', () => {
  const alignment = compare(runningUpTo(2))

  expect(alignment.divergence).toBe(null)
  expect(alignment.effects).toEqual([])
  expect(alignment.rows.map(({ differences }) => differences)).toEqual([[], [], [], [], []])
  expect([...alignment.pending]).toEqual([3, 4])
  expect(lastReachedRow(alignment)).toBe(2)
})

test('what it did differently so far is shown at once', () => {
  const alignment = compare(runningUpTo(2, { output: 'c_42' }))

  expect(alignment.divergence).toMatchObject({ kind: 'result', row: 1, b: 'c_42' })
})

test('once it has ended, the steps that are not there are missing', () => {
  const ended = runningUpTo(2)
  ended.session.endState = 'fail'
  const alignment = compare(ended)

  expect(alignment.pending.size).toBe(0)
  expect(alignment.rows.slice(3).map(({ differences }) => differences[0]!.kind)).toEqual([
    'missing-effect',
    'missing-step',
  ])
})
