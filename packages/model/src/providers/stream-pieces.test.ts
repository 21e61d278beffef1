import { expect, test } from 'vitest'
import { stepOf } from '../../test/steps-of.ts'
import type { SpanShape } from '../../test/make-span.ts'

const call = { type: 'tool-call', id: 'c1', name: 'look', arguments: { at: 1 } }
const words = ['It', ' is', ' 21', 'C', ' in', ' Paris', '.', '\n\nEnjoy', '!']
const answer = { type: 'text', text: words.join('') }

const openAiEvents = [
  ...words.map((content) => ({ id: 'r1', model: 'gpt-4o', choices: [{ index: 0, delta: { content } }] })),
  { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: 'c1', function: { name: 'look' } }] } }] },
  { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: '{"at"' } }] } }] },
  { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: ': 1}' } }] } }] },
  { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
  { choices: [], usage: { prompt_tokens: 7, completion_tokens: 9, total_tokens: 16 } },
]
const anthropicEvents = [
  {
    type: 'message_start',
    message: { id: 'r1', model: 'gpt-4o', usage: { input_tokens: 7, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ...words.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
  {
    type: 'content_block_start',
    index: 1,
    content_block: { type: 'tool_use', id: 'c1', name: 'look', input: {} },
  },
  { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"at"' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: ': 1}' } },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
]
const responsesEvents = [
  { type: 'response.created', response: { id: 'r1', model: 'gpt-4o', status: 'in_progress', output: [] } },
  ...words.map((delta) => ({ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta })),
  {
    type: 'response.output_item.done',
    output_index: 1,
    item: { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"at": 1}' },
  },
]
const geminiEvents = [
  ...words.map((text) => ({ candidates: [{ content: { role: 'model', parts: [{ text }] } }] })),
  {
    candidates: [{ content: { parts: [{ functionCall: { id: 'c1', name: 'look', args: { at: 1 } } }] } }],
    usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 9 },
  },
]
const ollamaEvents = [
  ...words.map((content) => ({ model: 'm', message: { role: 'assistant', content }, done: false })),
  {
    message: { content: '', tool_calls: [{ id: 'c1', function: { name: 'look', arguments: { at: 1 } } }] },
    done: true,
  },
]
const langChainChunks = [
  ...words.map((content) => ({ type: 'AIMessageChunk', content, tool_call_chunks: [] })),
  {
    type: 'AIMessageChunk',
    content: '',
    tool_call_chunks: [{ index: 0, id: 'c1', name: 'look', args: '{"at"' }],
  },
  {
    type: 'AIMessageChunk',
    content: '',
    tool_call_chunks: [{ index: 0, id: null, name: null, args: ': 1}' }],
  },
]
const serializedChunks = langChainChunks.map(({ type, ...kwargs }) => ({
  lc: 1,
  type: 'constructor',
  id: ['langchain', 'schema', 'messages', type],
  kwargs,
}))

const json = JSON.stringify
const streams: [string, SpanShape][] = Object.entries({
  'OpenAI chunks': openAiEvents,
  'Anthropic events': anthropicEvents,
  'Responses events': responsesEvents,
  'Gemini chunks': geminiEvents,
  'Ollama chunks': ollamaEvents,
  'LangChain chunks': langChainChunks,
  'serialized LangChain chunks': serializedChunks,
}).flatMap(([name, events]): [string, SpanShape][] => [
  [
    `${name} in OpenInference`,
    { attributes: { 'openinference.span.kind': 'LLM', 'output.value': json(events) } },
  ],
  [
    `${name} in Langfuse`,
    {
      attributes: { 'langfuse.observation.type': 'generation', 'langfuse.observation.output': json(events) },
    },
  ],
  [
    `${name} in LangSmith`,
    { attributes: { 'langsmith.span.kind': 'llm', 'gen_ai.completion': json({ output: events }) } },
  ],
  [`${name} in MLflow`, { attributes: { 'mlflow.spanType': '"LLM"', 'mlflow.spanOutputs': json(events) } }],
  [`${name} in Laminar`, { attributes: { 'lmnr.span.type': 'LLM', 'lmnr.span.output': json(events) } }],
  [
    `${name} in Traceloop`,
    { attributes: { 'llm.request.type': 'chat', 'traceloop.entity.output': json({ outputs: events }) } },
  ],
  [
    `${name} in Google ADK`,
    {
      name: 'call_llm',
      scope: 'gcp.vertex.agent',
      attributes: { 'gcp.vertex.agent.llm_response': json(events) },
    },
  ],
])

test.each(streams)('a stream is one reply: %s', (_name, shape) => {
  expect(stepOf(shape).content.messages).toEqual([
    { role: 'assistant', parts: [answer, call], isOutput: true, ...anyFinishReason(shape) },
  ])
})

/** The reason stands where the events have one. */
function anyFinishReason(shape: SpanShape): object {
  const text = json(shape.attributes)
  if (text.includes('tool_calls\\"}') && text.includes('delta')) return { finishReason: 'tool_calls' }
  return text.includes('stop_reason') ? { finishReason: 'tool_use' } : {}
}

test('the usage of a stream is read from its events', () => {
  const { outline } = stepOf({
    attributes: { 'openinference.span.kind': 'LLM', 'output.value': json(openAiEvents) },
  })

  expect(outline).toMatchObject({
    usage: { input: 7, output: 9, total: 16 },
    model: 'gpt-4o',
    responseId: 'r1',
  })
})

const flat = (key: (index: number) => string) =>
  Object.fromEntries(words.map((word, index) => [key(index), word]))
const pieces: [string, SpanShape][] = [
  [
    'messages of the semantic conventions',
    {
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.output.messages': json(
          words.map((content) => ({ role: 'assistant', parts: [{ type: 'text', content }] })),
        ),
      },
    },
  ],
  [
    'parts of the semantic conventions',
    {
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.output.messages': json([
          { role: 'assistant', parts: words.map((content) => ({ type: 'text', content })) },
        ]),
      },
    },
  ],
  [
    'OpenInference',
    {
      attributes: {
        'openinference.span.kind': 'LLM',
        ...flat((index) => `llm.output_messages.${index}.message.content`),
      },
    },
  ],
  [
    'contents of OpenInference',
    {
      attributes: {
        'openinference.span.kind': 'LLM',
        'llm.output_messages.0.message.role': 'assistant',
        ...flat((index) => `llm.output_messages.0.message.contents.${index}.message_content.text`),
      },
    },
  ],
  [
    'Traceloop',
    { attributes: { 'llm.request.type': 'chat', ...flat((index) => `gen_ai.completion.${index}.content`) } },
  ],
  [
    'span events',
    {
      attributes: { 'gen_ai.operation.name': 'chat' },
      events: words.map((content) => ({
        name: 'gen_ai.choice',
        attributes: { message: json({ role: 'assistant', content }) },
      })),
    },
  ],
  [
    'Vercel',
    { attributes: { 'ai.operationId': 'ai.streamText.doStream', 'ai.response.text': words.join('') } },
  ],
]

test.each(pieces)('pieces of text are one reply: %s', (_name, shape) => {
  expect(stepOf(shape).content.messages).toEqual([{ role: 'assistant', parts: [answer], isOutput: true }])
})

test('several replies to one request stay several', () => {
  const choice = (content: string) => ({
    role: 'assistant',
    parts: [{ type: 'text', content }],
    finish_reason: 'stop',
  })
  const { content } = stepOf({
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.output.messages': json([choice('Yes, '), choice(' no')]),
    },
  })
  const { content: words } = stepOf({
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.output.messages': json(['yes', 'no', 'maybe']),
    },
  })

  expect(content.messages?.map(({ parts }) => parts)).toEqual([
    [{ type: 'text', text: 'Yes, ' }],
    [{ type: 'text', text: ' no' }],
  ])
  expect(words.messages).toHaveLength(3)
})

test('paragraphs stay parts of their own, and pieces of arguments are one call', () => {
  const { content } = stepOf({
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.output.messages': json([
        {
          role: 'assistant',
          parts: [
            { type: 'text', content: 'The first paragraph.' },
            { type: 'text', content: 'The second one.' },
            { type: 'tool_call', id: 'c1', name: 'look', arguments: '{"at"' },
            { type: 'tool_call', name: '', arguments: ': 1}' },
          ],
        },
      ]),
    },
  })

  expect(content.messages?.[0]?.parts).toEqual([
    { type: 'text', text: 'The first paragraph.' },
    { type: 'text', text: 'The second one.' },
    call,
  ])
})
