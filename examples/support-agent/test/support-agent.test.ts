import { afterAll, beforeAll } from 'vitest'
import * as playhead from 'playhead'
import { before, expect, test } from 'playhead/vitest'
import type { ScriptedModel } from '@playhead/scripted-model'
import { answerAsSupport } from '../src/model-script.ts'
import { runSupportAgent } from '../src/run-support-agent.ts'
import { useScriptedModel } from '../src/use-scripted-model.ts'

let model: ScriptedModel

beforeAll(async () => {
  model = await useScriptedModel(answerAsSupport)
})
afterAll(() => model.stop())

const CHARGED_TWICE = 'I was charged twice for my subscription'

test('answers a billing question from customer data', async ({ session }) => {
  const reply = await runSupportAgent(CHARGED_TWICE)

  expect(reply).toContain('two charges')
  expect(session).toHaveCalledInOrder(['classify_intent', 'fetch_customer_data', 'session_complete'])
  expect(session).toHaveCalled('fetch_customer_data', { args: ['c_42'], times: 1 })
  expect(session).toHaveCalled('session_complete', { args: { intent: 'billing' } })
  expect(session).toHaveNoErrors()
  expect(session).toHaveNoLoops()
})

test('changes nothing for a billing question', async ({ session }) => {
  await runSupportAgent(CHARGED_TWICE)

  expect(session).toHaveEffects([])
  expect(session).not.toHaveCalled('issue_refund')
})

test('issues one refund for the named invoice, after looking up the customer', async ({ session }) => {
  await runSupportAgent('Please refund INV-2292, account c_42')

  expect(session).toSatisfyOrder(before('fetch_customer_data', 'issue_refund'))
  expect(session).toHaveEffects([{ tool: 'issue_refund', args: { invoice: 'INV-2292', amount: 129.5 } }])
})

test('answers a greeting without looking up a customer', async ({ session }) => {
  const reply = await runSupportAgent('hello')

  expect(reply.length).toBeGreaterThan(10)
  expect(session).toMatchTrajectory(['classify_intent', 'write_reply', 'session_complete'])
})

test('answers a billing question in three model calls, for less than a cent, within seconds', async ({
  session,
}) => {
  await runSupportAgent(CHARGED_TWICE)

  expect(session).toCostLessThan({ usd: 0.01, llmCalls: 4 })
  expect(session).toFinishWithin('8s', { perTool: { fetch_customer_data: '2s' } })
})

test('a session can also be read without matchers', async () => {
  await runSupportAgent(CHARGED_TWICE)

  const session = playhead.getSession()
  const actions = session.actionEvents.map(({ actionType }) => actionType)
  expect(actions.indexOf('fetch_customer_data')).toBeGreaterThan(-1)
  expect(actions.indexOf('fetch_customer_data')).toBeLessThan(actions.indexOf('session_complete'))
  expect(session.cost, `see ${session.url}`).toBeLessThan(0.01)
})

const BILLING_VARIANTS = [
  'I was charged twice for my subscription',
  "There's a duplicate charge on my account",
  'You billed me twice this month',
  'Double billing issue on account',
  'I see two charges from you',
  'Charged me double',
]

test.agent(
  'billing, in any words',
  { inputs: BILLING_VARIANTS, concurrency: 3 },
  async ({ input, session }) => {
    await runSupportAgent(input)

    expect(session).toHaveCalledInOrder(['classify_intent', 'fetch_customer_data', 'session_complete'])
  },
)
