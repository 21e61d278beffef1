import { expect, test } from 'vitest'
import { expectSupportSession, outlineOf, runExample } from '../run-example.ts'

test('a LangGraph agent needs only init to be recorded', async () => {
  const run = await runExample('langchain')
  expectSupportSession(run, { example: 'langchain', model: 'gpt-4o-mini' })
  expect(outlineOf(run)).toEqual([
    'workflow support',
    '  agent support',
    '    llm gpt-4o-mini',
    '    action fetch_customer_data',
    '    llm gpt-4o-mini',
  ])
  expect(run.session.agents).toEqual(['support'])
})
