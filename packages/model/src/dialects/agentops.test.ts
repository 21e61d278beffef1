import { expect, test } from 'vitest'
import { find, outlineOf, pick, stepOf, stepsOf } from '../../test/steps-of.ts'

test('the TypeScript SDK has no kinds: they follow from the shape, and parents from the times', () => {
  const steps = stepsOf('otlp/agentops-ts-0.1.0')

  expect(outlineOf(steps)).toEqual([
    'workflow Weather workflow',
    'guardrail no_politics',
    'llm llm',
    'handoff Triage agent → Weather agent',
    'agent Triage agent',
    'llm llm',
    'action get_weather',
    'llm llm',
    'agent Weather agent',
    'workflow Agent workflow',
    'llm llm',
    'agent Failing',
  ])
  expect(steps.map(({ outline }) => outline.treeQuestion ?? '')).toEqual([
    '',
    ...Array.from({ length: 8 }, () => 'parent-by-time'),
    '',
    'parent-by-time',
    'parent-by-time',
  ])
})

test('token counts as text, and calls and results outside the list of messages are read', () => {
  const steps = stepsOf('otlp/agentops-ts-0.1.0')
  const second = find(steps, 'llm', 'llm', 1)

  expect(pick(second, 'usage', 'responseId', 'outputPreview')).toEqual({
    usage: { input: 120, output: 35, total: 155 },
    responseId: 'resp_000166fake',
    outputPreview: '→ get_weather(city=Paris)',
  })
  expect(second.content.messages?.map(({ role }) => role)).toEqual([
    'system',
    'user',
    'assistant',
    'tool',
    'assistant',
  ])
  expect(find(steps, 'guardrail', 'no_politics').outline.guardrail).toEqual({
    name: 'no_politics',
    isTriggered: false,
  })
  expect(find(steps, 'action', 'get_weather').content.tool).toEqual({
    name: 'get_weather',
    arguments: { city: 'Paris' },
    result: 'sunny in Paris, 21C',
  })
})

test('a literal {i} in a key is the first handoff', () => {
  expect(
    find(stepsOf('otlp/agentops-ts-0.1.0'), 'handoff', 'Triage agent → Weather agent').outline.handoff,
  ).toEqual({
    from: 'Triage agent',
    to: 'Weather agent',
  })
})

test('a tool of the Python SDK has its positional argument, its cost and no suffix', () => {
  const { outline, content } = stepOf({
    name: 'add.tool',
    scope: 'agentops',
    attributes: {
      'agentops.span.kind': 'tool',
      'operation.name': 'add',
      'agentops.tool.input': '{"args": [5], "kwargs": {}}',
      'agentops.tool.output': '6',
      'gen_ai.usage.total_cost': 0.05,
    },
  })

  expect(outline).toMatchObject({
    kind: 'action',
    name: 'add',
    dialect: 'agentops',
    inputPreview: '5',
    outputPreview: '6',
    reportedCost: 0.05,
  })
  expect(content.tool).toEqual({ name: 'add', arguments: 5, result: '6' })
})

test.each([
  ['session', 'workflow'],
  ['workflow', 'workflow'],
  ['task', 'workflow'],
  ['operation', 'workflow'],
  ['agent', 'agent'],
  ['guardrail', 'guardrail'],
  ['http', 'other'],
])('agentops.span.kind %s is a step of kind %s', (word, kind) => {
  expect(stepOf({ scope: 'agentops', attributes: { 'agentops.span.kind': word } }).outline.kind).toBe(kind)
})

test('the session span gives the end state, the tags and the metadata', () => {
  const { outline } = stepOf({
    name: 'default.session',
    scope: 'agentops',
    parentSpanId: null,
    attributes: {
      'agentops.span.kind': 'session',
      'operation.name': 'default',
      'agentops.tags': '["x", "y"]',
      'trace.metadata.customer': 'acme',
      'agentops.session.end_state': 'Fail',
      'agentops.legacy.end_state_reason': 'it broke',
    },
  })

  expect(outline.session).toEqual({
    tags: ['x', 'y'],
    endState: 'fail',
    endStateReason: 'it broke',
    metadata: { customer: 'acme' },
  })
})

test('an exception recorded twice by decorators is one error, with its type from the message', () => {
  const exception = {
    name: 'exception',
    attributes: {
      'exception.type': 'ValueError',
      'exception.message': 'kaboom',
      'exception.stacktrace': 'Traceback…',
    },
  }
  const step = stepOf({
    name: 'boom.tool',
    statusCode: 2,
    statusMessage: 'ValueError: kaboom',
    attributes: { 'agentops.span.kind': 'tool', 'operation.name': 'boom' },
    events: [exception, exception],
  })
  const withoutEvent = stepOf({
    statusCode: 2,
    statusMessage: 'ValueError: kaboom',
    attributes: { 'agentops.span.kind': 'tool', 'operation.name': 'boom' },
  })

  expect(step.content.error).toEqual({ type: 'ValueError', message: 'kaboom', stack: 'Traceback…' })
  expect(withoutEvent.outline.error).toEqual({ type: 'ValueError', message: 'kaboom' })
})

test('the output of a guardrail tells whether it was triggered', () => {
  const { outline } = stepOf({
    name: 'g.guardrail',
    attributes: {
      'agentops.span.kind': 'guardrail',
      'operation.name': 'g',
      'agentops.guardrail.output': '{"tripwire_triggered": true}',
    },
  })

  expect(outline).toMatchObject({ name: 'g', status: 'ok', guardrail: { name: 'g', isTriggered: true } })
})

test("AgentOps: OpenAI's input includes the cache, Anthropic's does not", () => {
  const attributes = {
    'gen_ai.usage.prompt_tokens': 5000,
    'gen_ai.usage.completion_tokens': 10,
    'gen_ai.usage.cache_read_input_tokens': 1000,
  }

  const openAi = stepOf({ scope: 'agentops', attributes: { ...attributes, 'gen_ai.system': 'OpenAI' } })
  const anthropic = stepOf({ scope: 'agentops', attributes: { ...attributes, 'gen_ai.system': 'Anthropic' } })

  expect(openAi.outline.usage?.input).toBe(5000)
  expect(anthropic.outline.usage?.input).toBe(6000)
})
