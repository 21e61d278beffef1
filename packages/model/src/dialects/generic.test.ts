import { expect, test } from 'vitest'
import { pick, stepOf } from '../../test/steps-of.ts'

test('OpenRouter: prompt and completion in one attribute each, with the cost', () => {
  const { outline } = stepOf({
    name: 'LLM Generation',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.system': 'openrouter',
      'gen_ai.request.model': 'anthropic/claude-sonnet-4.5',
      'gen_ai.prompt': '{"messages":[{"role":"user","content":"hi"}]}',
      'gen_ai.completion': '{"completion":"hello"}',
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 3,
      'gen_ai.usage.cost': 0.001,
    },
  })

  expect(outline).toMatchObject({
    reportedCost: 0.001,
    provider: 'openrouter',
    inputPreview: 'hi',
    outputPreview: 'hello',
  })
})

test('spans of an unknown sender are read by the shape of their attributes', () => {
  const call = stepOf({
    name: 'my call',
    attributes: {
      'acme.llm.model': 'acme-1',
      'acme.usage.input_tokens': '12',
      'acme.usage.output_tokens': 3,
      'acme.session_id': 's-1',
    },
  })
  const tool = stepOf({
    name: 'lookup',
    attributes: { 'acme.span.kind': 'TOOL', input: '{"a":1}', output: 'x' },
  })
  const http = stepOf({
    name: 'GET /',
    attributes: { 'http.request.method': 'GET', model: 'T-1000', 'thread.id': 7, type: 'agent' },
  })

  expect(call.outline).toMatchObject({
    kind: 'llm',
    name: 'acme-1',
    model: 'acme-1',
    usage: { input: 12, output: 3, total: 15 },
    dialect: 'generic',
    session: { threadId: 's-1' },
  })
  expect(tool.outline).toMatchObject({
    kind: 'action',
    name: 'lookup',
    inputPreview: 'a=1',
    outputPreview: 'x',
  })
  expect(pick(http, 'kind', 'name', 'model', 'session')).toEqual({
    kind: 'other',
    name: 'GET /',
    model: undefined,
    session: undefined,
  })
})

test('Sentry: messages of the request and texts of the response', () => {
  const { outline, content } = stepOf({
    name: 'chat gpt-4o',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.request.messages': '[{"role":"user","content":"hi"}]',
      'gen_ai.response.text': '["hello"]',
      'gen_ai.response.tool_calls': '[{"name":"f","arguments":"{}","id":"c1"}]',
      'gen_ai.request.available_tools': '[{"name":"f"}]',
      'gen_ai.usage.input_tokens.cached': 3,
      'gen_ai.usage.input_tokens': 10,
    },
  })

  expect(outline).toMatchObject({
    inputPreview: 'hi',
    outputPreview: 'hello',
    usage: { input: 10, cacheRead: 3 },
  })
  expect(content.messages?.at(-1)?.parts).toHaveLength(2)
  expect(content.toolDefinitions).toEqual([{ name: 'f' }])
})

test('Semantic Kernel and others spell operations their own way', () => {
  const kindOf = (operation: string) =>
    stepOf({ attributes: { 'gen_ai.operation.name': operation } }).outline.kind

  expect(['chat.completions', 'text.completions', 'chat.streaming_completions'].map(kindOf)).toEqual([
    'llm',
    'llm',
    'llm',
  ])
  expect(kindOf('create_thread')).toBe('other')
})

test('inputs and outputs below any prefix are read, whatever the kind', () => {
  const { outline } = stepOf({
    name: 'retriever',
    attributes: {
      'haystack.component.input': '{"query":"x"}',
      'haystack.component.output': '{"documents":[]}',
    },
  })

  expect(outline).toMatchObject({
    kind: 'other',
    inputPreview: 'x',
    outputPreview: '{"documents":[]}',
  })
})

test('a scope that only starts like that of a dialect does not match it', () => {
  const { outline } = stepOf({
    scope: 'ai.koog',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.usage.input_tokens': 5000,
      'gen_ai.usage.cache_read.input_tokens': 100,
    },
  })

  expect(outline).toMatchObject({ dialect: 'otel-genai', usage: { input: 5000 } })
})
