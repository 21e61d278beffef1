import { expect, test } from 'vitest'
import { agentRun, does, offers, says } from '../../test/agent-run.ts'
import { firstSuspect, nothing } from '../../test/first-suspect.ts'
import { diagnoseSession } from './diagnose-session.ts'

const tools = offers('get_order', 'refund_order')
const look = [says('', { get_order: { id: 'O-1' } }, tools), does('get_order', { id: 'O-1' }, { id: 'O-1' })]

test('fires when the agent says that it did what it never did', () => {
  const run = agentRun([...look, says('I have refunded your order.', {}, tools)])
  expect(firstSuspect(run)).toEqual({
    step: 's2',
    kind: 'claim-without-act',
    sentence: 'Step 3 assistant says "I have refunded", but refund_order was never called.',
  })
})

test('stays silent when it did it', () => {
  const run = agentRun([
    ...look,
    says('', { refund_order: { id: 'O-1' } }, tools),
    does('refund_order', { id: 'O-1' }, 'ok'),
    says('I have refunded your order.', {}, tools),
  ])
  expect(diagnoseSession(run)).toEqual(nothing)
})

test('stays silent about what it only offers, and about words without a tool for them', () => {
  const run = agentRun([
    ...look,
    says('Once I have refunded your order, you get a mail. I have updated the text below.', {}, tools),
  ])
  expect(diagnoseSession(run)).toEqual(nothing)
})
