import { expect, test } from 'vitest'
import { expectSupportSession, outlineOf, runExample } from '../run-example.ts'

test('an agent of the OpenAI Agents SDK needs only init to be recorded', async () => {
  const run = await runExample('openai-agents')
  expectSupportSession(run, { example: 'openai-agents', model: 'gpt-5-mini' })
  expect(outlineOf(run)).toEqual([
    'workflow support',
    '  agent Support',
    '    llm gpt-5-mini',
    '    action fetch_customer_data',
    '    llm gpt-5-mini',
  ])
  expect(run.session.agents).toEqual(['Support'])
})
