import { expect, test } from 'vitest'
import { find, outlineOf, pick, stepOf, stepsOf } from '../../test/steps-of.ts'
import { sessionOf } from '../../test/session-of.ts'

test('the levels of an agent run have their kinds, and the generation leaves a question to the tree', () => {
  const steps = stepsOf('otlp/mastra-1.71')

  expect(outlineOf(steps).slice(0, 10)).toEqual([
    'event model_chunk Weather Agent',
    'action get_weather',
    'event model_chunk Weather Agent',
    'llm gpt-4o-mini',
    'llm agent_step Weather Agent',
    'event model_chunk Weather Agent',
    'llm gpt-4o-mini',
    'llm agent_step Weather Agent',
    'llm model_generation gpt-4o-mini',
    'agent Weather Agent',
  ])
  expect(find(steps, 'llm', 'model_generation gpt-4o-mini').outline.treeQuestion).toBe(
    'llm-unless-model-below',
  )
})

test('an inference has usage, finish reasons from JSON, and the provider without its API', () => {
  expect(
    pick(
      find(stepsOf('otlp/mastra-1.71'), 'llm', 'gpt-4o-mini', 1),
      'usage',
      'finishReasons',
      'provider',
      'outputPreview',
    ),
  ).toEqual({
    usage: { input: 120, output: 35, cacheRead: 64, reasoning: 16, total: 155 },
    finishReasons: ['stop'],
    provider: 'openai',
    outputPreview: 'It is sunny and 21C in Paris today.',
  })
})

test('the agent has instructions as text, tools by name, its session and its input', () => {
  const agent = find(stepsOf('otlp/mastra-1.71'), 'agent', 'Weather Agent')

  expect(agent.outline.session).toEqual({
    threadId: 'sess-42',
    userId: 'user-7',
    tags: ['demo'],
    version: '1.71.0',
    metadata: { runId: 'ef8ee85d-848c-4c9a-90bb-f91a745e69ca' },
  })
  expect(agent.content.toolDefinitions).toEqual([{ name: 'get_weather' }])
  expect(agent.content.messages?.[0]).toEqual({
    role: 'system',
    parts: [{ type: 'text', text: 'You are terse.' }],
  })
  expect(pick(agent, 'inputPreview', 'outputPreview')).toEqual({
    inputPreview: 'Weather in Paris?',
    outputPreview: 'It is sunny and 21C in Paris today.',
  })
})

test('a failed run has its error', () => {
  expect(find(stepsOf('otlp/mastra-1.71'), 'agent', 'Weather Agent', 1).outline.error).toEqual({
    type: 'Error',
    message: 'Rate limit reached for fake',
  })
})

test.each([
  ['workflow_step', 'workflow'],
  ['workflow_conditional', 'workflow'],
  ['mcp_tool_call', 'action'],
  ['rag_embedding', 'embedding'],
  ['generic', 'workflow'],
])('mastra.span.type %s is a step of kind %s', (type, kind) => {
  expect(stepOf({ attributes: { 'mastra.span.type': type } }).outline.kind).toBe(kind)
})

test('a model call has the messages of the step around it', () => {
  const drafts = stepsOf('otlp/mastra-1.71')
  const { steps } = sessionOf(
    drafts.map(({ outline }) => outline),
    Object.fromEntries(drafts.map(({ outline, content }) => [outline.id, content])),
  )
  const [asked, told] = steps.filter(({ kind, usageScope }) => kind === 'llm' && usageScope === 'call')

  expect(asked!.messages?.map(({ role }) => role)).toEqual(['system', 'user', 'assistant'])
  expect(told!.messages?.map(({ role }) => role)).toEqual([
    'system',
    'user',
    'assistant',
    'tool',
    'assistant',
  ])
  expect(asked!.inputPreview).toBe('Weather in Paris?')
})
