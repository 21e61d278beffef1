import { expect, test } from 'vitest'
import { expectSupportSession, outlineOf, runExample } from '../run-example.ts'

test("a support agent with Anthropic's client has one step a call, although the client traces itself too", async () => {
  const run = await runExample('anthropic')
  const { asked, told } = expectSupportSession(run, { example: 'anthropic', model: 'claude-haiku-4-5' })
  expect(outlineOf(run)).toEqual([
    'workflow support',
    '  llm claude-haiku-4-5',
    '  action fetch_customer_data',
    '  llm claude-haiku-4-5',
  ])
  expect(asked.messages!.at(-1)!.parts[0]).toEqual({
    type: 'reasoning',
    text: 'I have to look at the charges.',
  })
  expect(told.usage).toMatchObject({ input: 900, output: 24, cacheRead: 800 })
})
