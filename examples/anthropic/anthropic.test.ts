import { expect, test } from 'vitest'
import { outlineOf, runExample } from '../run-example.ts'

test(
  "a support agent with Anthropic's client is recorded once, though the client traces itself too",
  { timeout: 120_000 },
  async () => {
    const run = await runExample('anthropic')
    const { session, steps } = run
    expect(session).toMatchObject({
      name: 'support',
      endState: 'success',
      tags: ['example', 'anthropic'],
      llmCallCount: 2,
      errorCount: 0,
      tools: ['fetch_customer_data'],
      models: ['claude-haiku-4-5'],
      unpricedModels: [],
    })
    expect(run.output).toContain(`You were charged once, Ada.`)
    expect(run.output).toContain(`${session.cost} US dollars: ${session.url}`)
    expect(outlineOf(run)).toEqual([
      'workflow support',
      '  llm claude-haiku-4-5',
      '    llm claude-haiku-4-5',
      '  action fetch_customer_data',
      '  llm claude-haiku-4-5',
      '    llm claude-haiku-4-5',
    ])
    const [asked, told] = steps.filter(({ kind, messages }) => kind === 'llm' && messages !== undefined)
    expect(asked!.messages!.at(-1)!.parts.at(-1)).toMatchObject({
      type: 'tool-call',
      name: 'fetch_customer_data',
      arguments: { customerId: 'c_42' },
    })
    expect(told!.outputPreview).toContain('You were charged once, Ada.')
    expect(asked!.messages!.at(-1)!.parts[0]).toEqual({
      type: 'reasoning',
      text: 'I have to look at the charges.',
    })
    expect(told!.usage).toMatchObject({ input: 900, output: 24, cacheRead: 800 })
  },
)
