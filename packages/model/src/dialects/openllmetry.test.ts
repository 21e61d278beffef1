import { expect, test } from 'vitest'
import { find, outlineOf, pick, stepOf, stepsOf } from '../../test/steps-of.ts'

test('names of workflows, agents, tools and tasks lose their suffix, and arguments are kept', () => {
  const steps = stepsOf('otlp/traceloop-0.27')

  expect(outlineOf(steps)).toEqual([
    'llm gpt-4o-mini',
    'llm gpt-4o-mini',
    'llm gpt-4o-mini',
    'action get_weather',
    'workflow summarize',
    'agent weather_agent',
    'workflow weather_workflow',
    'workflow responses_flow',
    'workflow claude_flow',
    'llm claude-sonnet-4-5',
  ])
  expect(find(steps, 'action', 'get_weather').content).toMatchObject({
    input: { city: 'Paris' },
    output: { city: 'Paris', temp: 21, sky: 'sunny' },
  })
  expect(pick(find(steps, 'agent', 'weather_agent'), 'inputPreview', 'outputPreview')).toEqual({
    inputPreview: 'Weather in Paris?',
    outputPreview: 'It is sunny and 21C in Paris today.',
  })
})

test('association properties name the thread and the user, the rest is metadata', () => {
  expect(find(stepsOf('otlp/traceloop-0.27'), 'workflow', 'weather_workflow').outline.session).toMatchObject({
    threadId: 'sess-42',
    userId: 'user-7',
  })
})

test('the Anthropic instrumentation up to 0.27.0 counts without cache, later ones with it', () => {
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'anthropic',
    'gen_ai.usage.input_tokens': 4000,
    'gen_ai.usage.output_tokens': 42,
    'gen_ai.usage.cache_read.input_tokens': 1500,
  }

  const old = stepOf({ scope: '@traceloop/instrumentation-anthropic@0.27.0', attributes })
  const later = stepOf({ scope: '@traceloop/instrumentation-anthropic@0.28.1', attributes })

  expect(old.outline.usage?.input).toBe(5500)
  expect(later.outline.usage?.input).toBe(4000)
})

test('tokens that the OpenAI instrumentation may have estimated are marked', () => {
  const steps = stepsOf('otlp/traceloop-0.27')
  const known = stepOf({
    scope: '@traceloop/instrumentation-openai@0.28.0',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.usage.input_tokens': 1,
      'gen_ai.usage.cache_read.input_tokens': 0,
    },
  })

  expect(steps[1]!.outline.isUsageEstimated).toBe(true)
  expect(find(steps, 'llm', 'claude-sonnet-4-5').outline.isUsageEstimated).toBeUndefined()
  expect(known.outline.isUsageEstimated).toBeUndefined()
})

test('the old flattened prompts are read, with "null" for no text and blocks of Anthropic as JSON', () => {
  const { outline, content } = stepOf({
    name: 'openai.chat',
    attributes: {
      'llm.request.type': 'chat',
      'gen_ai.system': 'Anthropic',
      'gen_ai.request.model': 'claude-sonnet-4-5',
      'gen_ai.prompt.0.role': 'user',
      'gen_ai.prompt.0.content': 'Weather?',
      'gen_ai.prompt.1.role': 'assistant',
      'gen_ai.prompt.1.content': 'null',
      'gen_ai.prompt.1.tool_calls.0.id': 'c1',
      'gen_ai.prompt.1.tool_calls.0.name': 'get_weather',
      'gen_ai.prompt.1.tool_calls.0.arguments': '{"city":"Paris"}',
      'gen_ai.prompt.2.role': 'tool',
      'gen_ai.prompt.2.tool_call_id': 'c1',
      'gen_ai.prompt.2.content': '{"temp":21}',
      'gen_ai.completion.0.role': 'assistant',
      'gen_ai.completion.0.content':
        '[{"type":"text","text":"Sunny"},{"type":"tool_use","id":"t","name":"f","input":{}}]',
      'gen_ai.completion.0.finish_reason': 'tool_use',
      'gen_ai.usage.prompt_tokens': 10,
      'gen_ai.usage.completion_tokens': 5,
      'llm.usage.total_tokens': 15,
      'llm.request.functions.0.name': 'get_weather',
      'llm.request.functions.0.parameters': '{"type":"object"}',
      'llm.temperature': 0.3,
      'llm.headers': 'secret',
    },
  })

  expect(outline).toMatchObject({
    kind: 'llm',
    provider: 'anthropic',
    dialect: 'openllmetry',
    usage: { input: 10, output: 5, total: 15 },
    finishReasons: ['tool_call'],
    inputPreview: '{"temp":21}',
    outputPreview: 'Sunny',
  })
  expect(content.messages).toEqual([
    { role: 'user', parts: [{ type: 'text', text: 'Weather?' }] },
    {
      role: 'assistant',
      parts: [{ type: 'tool-call', id: 'c1', name: 'get_weather', arguments: { city: 'Paris' } }],
    },
    { role: 'tool', parts: [{ type: 'tool-result', id: 'c1', result: { temp: 21 } }] },
    {
      role: 'assistant',
      parts: [
        { type: 'text', text: 'Sunny' },
        { type: 'tool-call', id: 't', name: 'f', arguments: {} },
      ],
      finishReason: 'tool_use',
      isOutput: true,
    },
  ])
  expect(content.toolDefinitions).toEqual([{ name: 'get_weather', parameters: { type: 'object' } }])
  expect({ ...content.parameters }).toEqual({ temperature: 0.3 })
})

test('values wrapped by LangChain callbacks are unwrapped', () => {
  const chain = stepOf({
    attributes: {
      'traceloop.span.kind': 'workflow',
      'traceloop.entity.input': '{"inputs":{"q":1},"tags":[],"metadata":{},"kwargs":{}}',
      'traceloop.entity.output': '{"outputs":{"a":2},"kwargs":{}}',
    },
  })
  const tool = stepOf({
    attributes: {
      'traceloop.span.kind': 'tool',
      'traceloop.entity.input': '{"input_str":"{\\"a\\":1}","tags":[]}',
    },
  })

  expect(chain.content).toMatchObject({ input: { q: 1 }, output: { a: 2 } })
  expect(tool.content.tool?.arguments).toEqual({ a: 1 })
})

test('an agent name copied onto a model call does not make it an agent', () => {
  expect(stepsOf('otlp/traceloop-0.27')[0]!.outline).toMatchObject({ kind: 'llm', agent: 'weather_agent' })
})

test('handoffs, guardrails and vector searches are recognised', () => {
  const handoff = stepOf({
    name: 'A → B.handoff',
    attributes: {
      'traceloop.span.kind': 'handoff',
      'gen_ai.handoff.from_agent': 'A',
      'gen_ai.handoff.to_agent': 'B',
    },
  })
  const guardrail = stepOf({
    attributes: {
      'gen_ai.operation.name': 'guard',
      'gen_ai.guardrail.name': 'pii',
      'gen_ai.guardrail.status': 'FAILED',
    },
  })
  const search = stepOf({
    attributes: { 'db.system': 'chroma', 'db.vector.query.top_k': 3 },
    events: [
      { name: 'db.query.result', attributes: { 'db.query.result.id': 'x', 'db.query.result.distance': 0.2 } },
    ],
  })

  expect(handoff.outline).toMatchObject({ kind: 'handoff', name: 'A → B', handoff: { from: 'A', to: 'B' } })
  expect(guardrail.outline).toMatchObject({ status: 'ok', guardrail: { name: 'pii', isTriggered: true } })
  expect(search.outline.kind).toBe('retrieval')
  expect(search.content.retrieval).toEqual({ documents: [{ id: 'x', score: 0.2 }] })
})

test('crews and tasks of CrewAI are no agents, and a task has its question', () => {
  const crewai = 'opentelemetry.instrumentation.crewai.instrumentation'
  const operation = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.provider.name': 'crewai' }
  const crew = stepOf({ name: 'crewai.workflow', scope: crewai, attributes: operation })
  const task = stepOf({
    name: 'Weather?.task',
    scope: crewai,
    attributes: {
      ...operation,
      'traceloop.span.kind': 'task',
      'crewai.task.description': 'What is the weather?',
    },
  })
  const agent = stepOf({
    name: 'meteorologist.agent',
    scope: crewai,
    attributes: { ...operation, 'traceloop.span.kind': 'agent', 'gen_ai.agent.name': 'meteorologist' },
  })

  expect([crew, task, agent].map(({ outline }) => [outline.kind, outline.agent])).toEqual([
    ['workflow', undefined],
    ['workflow', undefined],
    ['agent', 'meteorologist'],
  ])
  expect(task.outline.inputPreview).toBe('What is the weather?')
})
