import { expect, test } from 'vitest'
import { agentRun, does, says, user } from '../../test/agent-run.ts'
import { firstSuspect, nothing } from '../../test/first-suspect.ts'
import { diagnoseSession } from './diagnose-session.ts'

const passing = agentRun([
  says('', { get_order: { id: 'O-1' } }),
  does('get_order', { id: 'O-1' }, { id: 'O-1', total: 20 }),
  says('', { refund: { id: 'O-1', amount: 20 } }),
  does('refund', { id: 'O-1', amount: 20 }, 'ok', { effect: 'write' }),
  says('Refunded.'),
])
const failing = (endState: 'fail' | 'success') =>
  agentRun(
    [
      says('', { get_order: { id: 'O-1' } }),
      does('get_order', { id: 'O-1' }, { id: 'O-1', total: 20 }),
      says('', { refund: { id: 'O-1', amount: 2 } }),
      does('refund', { id: 'O-1', amount: 2 }, 'ok', { effect: 'write' }),
      says('Refunded.'),
    ],
    { endState },
  )

test('names the first change that differs from a session that passed', () => {
  expect(firstSuspect(failing('fail'), { sibling: passing })).toEqual({
    step: 's2',
    kind: 'divergence',
    sentence:
      'Step 4 refund, argument amount 2 instead of 20: the first change that differs from s_abc12345, which passed.',
  })
})

test('stays silent in a session that passed', () => {
  expect(diagnoseSession(failing('success'), { sibling: passing })).toEqual(nothing)
})

test('blames the change that the user objected to', () => {
  const run = agentRun(
    [
      says('', { get_order: { id: 'O-1' } }),
      does('get_order', { id: 'O-1' }, { id: 'O-1' }),
      says('', { cancel_order: { id: 'O-1' } }),
      does('cancel_order', { id: 'O-1' }, 'ok'),
      says('Your order is cancelled.'),
      user('I only wanted to cancel the hose, not the entire order.'),
      says('I am sorry.'),
    ],
    { endState: 'fail' },
  )
  expect(firstSuspect(run)).toMatchObject({ step: 's2', kind: 'divergence' })
})

test('no finding is without evidence, also where it only tells where to look first', () => {
  const { findings } = diagnoseSession(failing('fail'))
  expect(findings.map(({ kind }) => kind)).toContain('divergence')
  for (const { evidence } of findings)
    for (const { path, text } of evidence) expect([path, text]).not.toContain('')
  expect(findings.find(({ kind }) => kind === 'divergence')!.evidence).toEqual([
    { stepId: 's3', path: 'arguments', text: '{"id":"O-1","amount":2}' },
  ])
})

test('a user who waits does not object', () => {
  const run = (words: string) =>
    agentRun(
      [
        says('', { cancel_order: { id: 'O-1' } }),
        does('cancel_order', { id: 'O-1' }, 'ok'),
        says('Your order is cancelled.'),
        user(words),
      ],
      { endState: 'fail' },
    )
  const objections = (words: string) =>
    diagnoseSession(run(words)).findings.filter(({ sentence }) => /objected/.test(sentence)).length
  expect(objections('Thanks! I’ll wait for the email.')).toBe(0)
  expect(objections('Oh, wait, that is the other order.')).toBe(1)
})
