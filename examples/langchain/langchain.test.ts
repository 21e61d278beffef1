import { expect, test } from 'vitest'
import { outlineOf, runExample } from '../run-example.ts'

test('a LangGraph is recorded by nothing but init', { timeout: 120_000 }, async () => {
  const run = await runExample('langchain')
  const { session, steps } = run
  expect(session).toMatchObject({
    name: 'support',
    endState: 'success',
    tags: ['example', 'langchain'],
    llmCallCount: 2,
    errorCount: 0,
    tools: ['fetch_customer_data'],
    models: ['gpt-4o-mini'],
    unpricedModels: [],
  })
  expect(run.output).toContain(`You were charged once, Ada.`)
  expect(run.output).toContain(`${session.cost} US dollars: ${session.url}`)
  expect(outlineOf(run)).toEqual([
    'workflow support',
    '  agent support',
    '    llm gpt-4o-mini',
    '    action fetch_customer_data',
    '    llm gpt-4o-mini',
  ])
  const [asked, told] = steps.filter(({ kind, messages }) => kind === 'llm' && messages !== undefined)
  expect(asked!.messages!.at(-1)!.parts.at(-1)).toMatchObject({
    type: 'tool-call',
    name: 'fetch_customer_data',
    arguments: { customerId: 'c_42' },
  })
  expect(told!.outputPreview).toContain('You were charged once, Ada.')
  expect(session.agents).toEqual(['support'])
})
