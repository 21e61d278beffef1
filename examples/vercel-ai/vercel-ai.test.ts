import { expect, test } from 'vitest'
import { expectSupportSession, outlineOf, runExample } from '../run-example.ts'

test('a support agent with the AI SDK needs only init to be recorded', async () => {
  const run = await runExample('vercel-ai')
  expectSupportSession(run, { example: 'vercel-ai', model: 'gpt-5-mini' })
  expect(outlineOf(run)).toEqual([
    'workflow support',
    '  llm gpt-5-mini',
    '  action fetch_customer_data',
    '  llm gpt-5-mini',
  ])
})
