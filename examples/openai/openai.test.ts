import { expect, test } from 'vitest'
import { expectSupportSession, outlineOf, runExample } from '../run-example.ts'

test("a support agent with OpenAI's client needs only init to be recorded", async () => {
  const run = await runExample('openai')
  const { told } = expectSupportSession(run, { example: 'openai', model: 'gpt-4o-mini' })
  expect(outlineOf(run)).toEqual([
    'workflow support',
    '  llm gpt-4o-mini',
    '  action fetch_customer_data',
    '  llm gpt-4o-mini',
  ])
  expect(told.streaming!.chunks!.map(([, text]) => text).join('')).toBe(told.outputPreview)
})
