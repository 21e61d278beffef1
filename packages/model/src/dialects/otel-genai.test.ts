import { expect, test } from 'vitest'
import { pick, stepOf, stepsOf, outlineOf } from '../../test/steps-of.ts'

test('spans of the contrib instrumentation become llm, embedding, action and agent', () => {
  const steps = stepsOf('otlp/otel-instrumentation-openai-js')

  expect(outlineOf(steps)).toEqual([
    'llm gpt-4o-mini',
    'llm gpt-4o-mini',
    'embedding text-embedding-3-small',
    'llm gpt-4o-mini',
    'action get_weather',
    'agent weather',
  ])
  expect(pick(steps[3]!, 'status', 'error')).toEqual({
    status: 'error',
    error: { type: 'RateLimitError', message: '429 Rate limit reached for fake' },
  })
  expect(steps[5]!.outline.session).toEqual({ threadId: 'conv-1' })
})

test.each([
  ['chat', 'llm'],
  ['text_completion', 'llm'],
  ['generate_content', 'llm'],
  ['embeddings', 'embedding'],
  ['retrieval', 'retrieval'],
  ['rerank', 'retrieval'],
  ['execute_tool', 'action'],
  ['search_memory', 'action'],
  ['invoke_agent', 'agent'],
  ['create_agent', 'agent'],
  ['invoke_workflow', 'workflow'],
  ['invoke_swarm', 'workflow'],
  ['plan', 'workflow'],
  ['handoff', 'handoff'],
  ['guardrail.run', 'guardrail'],
])('the operation %s is a step of kind %s', (operation, kind) => {
  expect(stepOf({ attributes: { 'gen_ai.operation.name': operation } }).outline.kind).toBe(kind)
})

test('every part type of the semantic conventions is read', () => {
  const { content } = stepOf({
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.input.messages': JSON.stringify([
        {
          role: 'user',
          parts: [{ type: 'blob', modality: 'image', mime_type: 'image/png', content: 'AAA=' }],
        },
        { role: 'user', parts: [{ type: 'uri', modality: 'audio', uri: 'https://x.test/a.mp3' }] },
        { role: 'user', parts: [{ type: 'file', modality: 'image', file_id: 'file_1' }] },
        { role: 'assistant', parts: [{ type: 'reasoning', content: 'hm' }] },
        { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: '{"a":1}' }] },
        { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c2', result: 'plain' }] },
        { role: 'user', parts: [{ type: 'hologram', data: 1 }] },
      ]),
    },
  })

  expect(content.messages?.flatMap((message) => message.parts)).toEqual([
    { type: 'media', modality: 'image', mimeType: 'image/png', base64: 'AAA=' },
    { type: 'media', modality: 'audio', uri: 'https://x.test/a.mp3' },
    { type: 'media', modality: 'image', fileId: 'file_1' },
    { type: 'reasoning', text: 'hm' },
    { type: 'tool-result', id: 'c1', result: { a: 1 } },
    { type: 'tool-result', id: 'c2', result: 'plain' },
    { type: 'other', raw: { type: 'hologram', data: 1 } },
  ])
})

test('messages may be structured values instead of JSON', () => {
  const { content } = stepOf({
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.input.messages': [{ role: 'user', parts: [{ type: 'text', content: 'hi' }] }],
    },
  })

  expect(content.messages).toEqual([{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }])
})

test('system instructions come first, once, as parts or as plain text', () => {
  const input = JSON.stringify([
    { role: 'system', parts: [{ type: 'text', content: 'Be nice' }] },
    { role: 'user', parts: [{ type: 'text', content: 'hi' }] },
  ])
  const asParts = stepOf({
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.input.messages': input,
      'gen_ai.system_instructions': '[{"type":"text","content":"Be nice"}]',
    },
  })
  const asText = stepOf({
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.input.messages': input,
      'gen_ai.system_instructions': 'Be nice',
    },
  })

  expect(asParts.content.messages?.map(({ role }) => role)).toEqual(['system', 'user'])
  expect(asText.content.messages).toEqual(asParts.content.messages)
})

test('prompts in span events of all versions are read', () => {
  const modern = stepOf({
    attributes: { 'gen_ai.operation.name': 'chat' },
    events: [
      { name: 'gen_ai.system.message', attributes: { content: 'Be nice' } },
      {
        name: 'gen_ai.user.message',
        attributes: { 'gen_ai.event.content': '{"role":"user","content":"hi"}' },
      },
      {
        name: 'gen_ai.choice',
        attributes: { message: '{"role":"assistant","content":"hello"}', finish_reason: 'stop' },
      },
    ],
  })
  const old = stepOf({
    attributes: { 'gen_ai.operation.name': 'chat' },
    events: [
      { name: 'gen_ai.content.prompt', attributes: { 'gen_ai.prompt': '[{"role":"user","content":"hi"}]' } },
      {
        name: 'gen_ai.content.completion',
        attributes: { 'gen_ai.completion': '[{"role":"assistant","content":"hello"}]' },
      },
    ],
  })

  expect(modern.content.messages).toEqual([
    { role: 'system', parts: [{ type: 'text', text: 'Be nice' }] },
    { role: 'user', parts: [{ type: 'text', text: 'hi' }] },
    { role: 'assistant', parts: [{ type: 'text', text: 'hello' }], finishReason: 'stop', isOutput: true },
  ])
  expect(modern.outline.finishReasons).toEqual(['stop'])
  expect(pick(old, 'inputPreview', 'outputPreview')).toEqual({ inputPreview: 'hi', outputPreview: 'hello' })
})

test('retrieved documents and the query are kept', () => {
  const { content, outline } = stepOf({
    name: 'retrieval wiki',
    attributes: {
      'gen_ai.operation.name': 'retrieval',
      'gen_ai.retrieval.query.text': 'capital of France',
      'gen_ai.retrieval.documents': '[{"id":"d1","score":0.9,"content":"Paris"}]',
    },
  })

  expect(outline.name).toBe('wiki')
  expect(content.retrieval).toEqual({
    query: 'capital of France',
    documents: [{ id: 'd1', score: 0.9, content: 'Paris' }],
  })
})

test('the new and the old name of cached tokens are aliases, never added', () => {
  const { outline } = stepOf({
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.usage.input_tokens': 3520,
      'gen_ai.usage.prompt_tokens': 3520,
      'gen_ai.usage.cache_write.input_tokens': 2000,
      'gen_ai.usage.cache_creation.input_tokens': 2000,
      'gen_ai.usage.cache_read.input_tokens': 1500,
      'gen_ai.usage.details.cache_read_tokens': 1500,
      'gen_ai.usage.output_tokens': 42,
    },
  })

  expect(outline.usage).toEqual({ input: 3520, output: 42, cacheRead: 1500, cacheWrite: 2000, total: 3562 })
})

test('reasoning that the output excludes is added to it', () => {
  const byTotal = stepOf({
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 20,
      'gen_ai.usage.reasoning.output_tokens': 15,
      'gen_ai.usage.total_tokens': 135,
    },
  })
  const inside = stepOf({
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 20,
      'gen_ai.usage.reasoning.output_tokens': 15,
      'gen_ai.usage.total_tokens': 120,
    },
  })

  expect(byTotal.outline.usage).toMatchObject({ output: 35, total: 135 })
  expect(inside.outline.usage).toMatchObject({ output: 20, total: 120 })
})

test('a span without an end is a running step', () => {
  expect(stepOf({ endNs: null, attributes: { 'gen_ai.operation.name': 'chat' } }).outline).toMatchObject({
    status: 'running',
    endedAtMs: null,
  })
})
