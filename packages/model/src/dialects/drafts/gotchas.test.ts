import { expect, test } from 'vitest'
import { pick, stepOf } from '../../../test/steps-of.ts'

test('JSON cut by an attribute limit is kept as text and marks the step as truncated', () => {
  const cut = '[{"role":"user","parts":[{"type":"text","content":"Weather in Par'
  const { outline, content } = stepOf({
    attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.input.messages': cut },
  })

  expect(content.input).toBe(cut)
  expect(pick({ outline, content }, 'isTruncated', 'inputPreview')).toEqual({
    isTruncated: true,
    inputPreview: cut,
  })
})

test('Python notation is text, not truncated JSON', () => {
  const { outline, content } = stepOf({
    attributes: { 'openinference.span.kind': 'CHAIN', 'input.value': "{'a': 1}" },
  })

  expect(content.input).toBe("{'a': 1}")
  expect(outline.isTruncated).toBeUndefined()
})

test('a transfer tool without arguments is a handoff', () => {
  const handoff = stepOf({
    name: 'execute_tool transfer_to_billing',
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'transfer_to_billing',
      'gen_ai.tool.call.arguments': '{}',
    },
  })
  const payment = stepOf({
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'transfer_to_savings',
      'gen_ai.tool.call.arguments': '{"amount":100}',
    },
  })

  expect(handoff.outline).toMatchObject({ kind: 'handoff', name: '→ billing', handoff: { to: 'billing' } })
  expect(payment.outline.kind).toBe('action')
})

test.each([
  ['transfer_to_agent', { agent_name: 'expert' }],
  ['handoff', { to_agent: 'expert', reason: 'knows more' }],
])('the tool %s hands over to the agent in its arguments', (name, given) => {
  const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name }
  const { outline } = stepOf({
    attributes: {
      ...attributes,
      'gen_ai.tool.call.arguments': JSON.stringify(given),
      'gen_ai.tool.call.result': 'The expert continues.',
    },
  })

  expect(outline).toMatchObject({ kind: 'handoff', handoff: { to: 'expert' } })
  expect(stepOf({ attributes }).outline.kind).toBe('action')
})

test('one key for the first token, seconds from one sender and milliseconds from the other', () => {
  const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.server.time_to_first_token': 0.4 }

  expect(stepOf({ attributes }).outline.firstTokenMs).toBe(400)
  expect(
    stepOf({ attributes: { ...attributes, 'gen_ai.server.time_to_first_token': 350 } }).outline.firstTokenMs,
  ).toBe(350)
})

test('a cache larger than the input was not included in it, whatever the sender', () => {
  const { outline } = stepOf({
    attributes: {
      'gen_ai.usage.input_tokens': 20,
      'gen_ai.usage.output_tokens': 42,
      'gen_ai.usage.cache_read.input_tokens': 1500,
    },
  })

  expect(outline.usage).toEqual({ input: 1520, output: 42, cacheRead: 1500, total: 1562 })
})

test('a total that only adds up with the cache shows that the input excludes it', () => {
  const { outline } = stepOf({
    attributes: {
      'gen_ai.usage.input_tokens': 5000,
      'gen_ai.usage.output_tokens': 42,
      'gen_ai.usage.cache_read.input_tokens': 1500,
      'gen_ai.usage.total_tokens': 6542,
    },
  })

  expect(outline.usage?.input).toBe(6500)
})

test('a reported cost of 0 counts only without tokens', () => {
  const used = stepOf({ attributes: { 'gen_ai.usage.input_tokens': 5, 'gen_ai.usage.cost': 0 } })
  const unused = stepOf({ attributes: { 'gen_ai.request.model': 'x', 'gen_ai.usage.cost': 0 } })

  expect(used.outline.reportedCost).toBeUndefined()
  expect(unused.outline.reportedCost).toBe(0)
})

test('ids that only look like a thread are ignored', () => {
  const { outline } = stepOf({
    attributes: {
      'gen_ai.operation.name': 'chat',
      'langsmith.trace.session_name': 'p',
      'langsmith.trace.session_id': 'p',
      'mcp.session.id': 'x',
      'gcp.vertex.agent.invocation_id': 'x',
      'thread.id': 3,
    },
  })

  expect(outline.session).toBeUndefined()
})

test('the session is taken from the most trusted key', () => {
  const all = {
    'langfuse.session.id': 'langfuse',
    'session.id': 'session',
    'gen_ai.conversation.id': 'conversation',
    'traceloop.association.properties.session_id': 'traceloop',
    'ai.telemetry.metadata.sessionId': 'vercel',
  }
  const seen: (string | undefined)[] = []
  const left = Object.entries(all)
  while (left.length > 0) {
    seen.push(stepOf({ attributes: Object.fromEntries(left) }).outline.session?.threadId)
    left.shift()
  }

  expect(seen).toEqual(Object.values(all))
})

test('a thread id in the metadata of a graph or on the resource has the lowest precedence', () => {
  const metadata = stepOf({
    attributes: { 'openinference.span.kind': 'CHAIN', metadata: '{"thread_id":"t-1"}' },
    resource: { 'session.id': 'r' },
  })
  const resource = stepOf({
    attributes: { 'openinference.span.kind': 'CHAIN' },
    resource: { 'session.id': 'r' },
  })

  expect(metadata.outline.session?.threadId).toBe('t-1')
  expect(resource.outline.session?.threadId).toBe('r')
})

test('a triggered guardrail is not an error', () => {
  expect(
    stepOf({ attributes: { 'guardrail.name': 'g', 'guardrail.triggered': 'true' } }).outline,
  ).toMatchObject({
    kind: 'guardrail',
    status: 'ok',
    guardrail: { name: 'g', isTriggered: true },
  })
})

test.each([
  ['openai.chat', 'openai'],
  ['openai.responses', 'openai'],
  ['anthropic.messages', 'anthropic'],
  ['google.generative-ai', 'gcp.gemini'],
  ['google.vertex.chat', 'gcp.vertex_ai'],
  ['amazon-bedrock', 'aws.bedrock'],
  ['azure.ai.openai', 'azure.ai.openai'],
  ['az.ai.inference', 'azure.ai.inference'],
  ['Vertex_AI', 'gcp.vertex_ai'],
  ['xai.chat', 'x_ai'],
  ['mistralai', 'mistral_ai'],
])('the provider %s is called %s', (provider, name) => {
  expect(
    stepOf({ attributes: { 'gen_ai.request.model': 'm', 'gen_ai.system': provider } }).outline.provider,
  ).toBe(name)
})

test('an error in an attribute is an error, a flag that says there is none is not', () => {
  expect(stepOf({ attributes: { 'error.type': 'timeout' } }).outline).toMatchObject({
    status: 'error',
    error: { type: 'timeout' },
  })
  expect(stepOf({ attributes: { error: true } }).outline.status).toBe('error')
  expect(stepOf({ attributes: { error: false } }).outline.status).toBe('ok')
  expect(stepOf({ attributes: { success: 'false' } }).outline.status).toBe('error')
})
