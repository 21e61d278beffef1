import { expect, test } from 'vitest'
import { find, outlineOf, pick, stepOf, stepsOf } from '../../test/steps-of.ts'

test('every type of observation has its kind', () => {
  const steps = stepsOf('otlp/langfuse-js-v5')

  expect(outlineOf(steps)).toEqual([
    'action bad_tool',
    'event my-event',
    'llm gpt-4o-mini',
    'action get_weather',
    'retrieval kb-search',
    'guardrail pii-guard',
    'agent planner',
    'llm gpt-4o-mini-2024-07-18',
    'llm gpt-4o-mini',
    'llm gpt-4o-mini',
    'other weather-request',
  ])
  expect(find(steps, 'other', 'weather-request').outline.treeQuestion).toBe('workflow-if-ai-below')
})

test('usage buckets do not overlap and are added, and the reported cost is kept', () => {
  const call = find(stepsOf('otlp/langfuse-js-v5'), 'llm', 'gpt-4o-mini')

  expect(pick(call, 'usage', 'reportedCost', 'inputPreview', 'outputPreview')).toEqual({
    usage: { input: 120, output: 35, cacheRead: 64, reasoning: 16, total: 155 },
    reportedCost: 0.0003,
    inputPreview: 'Weather?',
    outputPreview: 'sunny',
  })
  expect(call.content.messages).toEqual([
    { role: 'user', parts: [{ type: 'text', text: 'Weather?' }] },
    { role: 'assistant', parts: [{ type: 'text', text: 'sunny' }], isOutput: true },
  ])
  expect({ ...call.content.parameters }).toEqual({ temperature: 0.2, max_tokens: 100 })
})

test('level ERROR is an error although the status is unset', () => {
  const steps = stepsOf('otlp/langfuse-js-v5')

  expect(pick(find(steps, 'action', 'bad_tool'), 'status', 'error')).toEqual({
    status: 'error',
    error: { type: 'Error', message: 'tool exploded' },
  })
  expect(find(steps, 'llm', 'gpt-4o-mini', 2).outline.error?.message).toBe('429 Rate limit reached for fake')
})

test('a quoted time of the first token is measured from the start of the span', () => {
  expect(find(stepsOf('otlp/langfuse-js-v5'), 'llm', 'gpt-4o-mini', 1).outline.firstTokenMs).toBeCloseTo(5, 0)
})

test('trace attributes describe the session', () => {
  expect(find(stepsOf('otlp/langfuse-js-v5'), 'other', 'weather-request').outline.session).toEqual({
    name: 'weather-trace',
    version: '1.2.3',
    threadId: 'sess-42',
    userId: 'user-7',
    environment: 'staging',
    tags: ['demo', 'lf'],
    metadata: { plan: 'pro' },
  })
})

test('a guardrail that passed is not triggered, and a retriever has its documents', () => {
  const steps = stepsOf('otlp/langfuse-js-v5')

  expect(find(steps, 'guardrail', 'pii-guard').outline.guardrail).toEqual({
    name: 'pii-guard',
    isTriggered: false,
  })
  expect(find(steps, 'retrieval', 'kb-search').content.retrieval).toEqual({
    query: 'paris',
    documents: [{ id: '1', content: 'x' }],
  })
})

test('a span of the old Python SDK with a model is a model call', () => {
  const { outline } = stepOf({
    scope: 'langfuse-sdk@3.3.0',
    attributes: { 'langfuse.observation.type': 'span', 'langfuse.observation.model.name': 'gpt-4o' },
  })

  expect(outline).toMatchObject({ kind: 'llm', model: 'gpt-4o' })
  expect(outline.treeQuestion).toBeUndefined()
})

test('an observation that represents the trace describes the session although it has a parent', () => {
  const { outline } = stepOf({
    attributes: {
      'langfuse.observation.type': 'generation',
      'langfuse.internal.as_root': true,
      'langfuse.observation.metadata.k': '{"nested":1}',
    },
  })

  expect(outline.session?.metadata).toEqual({ k: { nested: 1 } })
})

test('the agent in the metadata is named without the quotes of JSON', () => {
  const attributes = {
    'langfuse.observation.type': 'generation',
    'langfuse.observation.metadata.lc_agent_name': '"weather_agent"',
  }

  expect(stepOf({ attributes }).outline.agent).toBe('weather_agent')
})
