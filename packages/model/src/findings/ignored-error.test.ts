import { expect, test } from 'vitest'
import { agentRun, does, fails, says } from '../../test/agent-run.ts'
import { firstSuspect } from '../../test/first-suspect.ts'
import { diagnoseSession } from './diagnose-session.ts'

const request = 'Renew the subscription of c_100'
const failing = [
  says('', { charge_card: { customer: 'c_100', amount: 30 } }),
  fails('charge_card', { customer: 'c_100', amount: 30 }, 'gateway timeout'),
]

test('fires when a session goes on as if a failed change had worked', () => {
  const run = agentRun([...failing, says('All done! Your subscription is active now, enjoy your month.')], {
    request,
  })
  expect(firstSuspect(run)).toMatchObject({ step: 's2', kind: 'ignored-error' })
})

test('stays silent when the agent tells the user', () => {
  expect(
    diagnoseSession(agentRun([...failing, says('The payment failed. Please try again later.')], { request }))
      .suspects,
  ).toEqual([])
})

test('stays silent when another tool did the same', () => {
  const other = does('charge_card_later', { customer: 'c_100', amount: 30 }, 'ok')
  const run = agentRun(
    [
      ...failing,
      says('', { charge_card_later: {} }),
      other,
      says('Your subscription is active now, thank you.'),
    ],
    { request },
  )
  expect(diagnoseSession(run).suspects).toEqual([])
})
