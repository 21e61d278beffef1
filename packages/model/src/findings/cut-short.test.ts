import { expect, test } from 'vitest'
import { agentRun, does, says } from '../../test/agent-run.ts'
import { firstSuspect, nothing } from '../../test/first-suspect.ts'
import { diagnoseSession } from './diagnose-session.ts'

test('fires when the last reply was cut', () => {
  const run = agentRun([says('The three steps are: first', {}, { finishReasons: ['length'] })])
  expect(firstSuspect(run)).toMatchObject({ step: 's0', kind: 'cut-short' })
})

test('fires when a session was lost', () => {
  const run = agentRun([says('', { search: {} }), does('search', { q: 'x' }, 'y')], { endState: 'lost' })
  expect(firstSuspect(run)).toMatchObject({ kind: 'cut-short' })
})

test('stays silent about a reply that is meant to be one word', () => {
  const run = agentRun([says('yes', {}, { finishReasons: ['length'], parameters: { max_tokens: 1 } })])
  expect(diagnoseSession(run)).toEqual(nothing)
})
