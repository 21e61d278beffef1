import { afterEach, beforeEach, expect, test } from 'vitest'
import { startRecorder, type Recorder } from '../../test/clients/recorder.ts'
import { activeCapture } from './active-capture.ts'
import { ObservedCall } from './observed-call.ts'

let recorder: Recorder

beforeEach(() => {
  recorder = startRecorder()
})

afterEach(() => recorder.uninstall())

type Exchange = {
  url: string
  request: object
  type?: string
  response: string | object | Uint8Array | object[]
}

/** Plays one exchange past a call, as a client of any provider would, without a network. */
function play({ url, request, type, response }: Exchange) {
  const call = new ObservedCall(activeCapture()!, new URL(url), () => undefined)
  call.sent(JSON.stringify(request))
  call.asked()
  const isEvents = Array.isArray(response)
  const text = isEvents ? response.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') : response
  const bytes =
    text instanceof Uint8Array
      ? text
      : new TextEncoder().encode(typeof text === 'string' ? text : JSON.stringify(text))
  const contentType = type ?? (isEvents ? 'text/event-stream' : 'application/json')
  call.answerBegan(200, (name) => (name === 'content-type' ? contentType : undefined))
  call.received(bytes.subarray(0, 50))
  call.received(bytes.subarray(50))
  call.answerEnded()
  const recorded = recorder.call()
  recorder.reset()
  return { ...recorded, answer: recorded.content.messages?.filter(({ isOutput }) => isOutput)[0]?.parts }
}

const chat = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }

test('DeepSeek: reasoning beside the answer, and its words for the cache', () => {
  const { answer, step } = play({
    url: 'https://api.deepseek.com/chat/completions',
    request: { ...chat, model: 'deepseek-reasoner', stream: true },
    response: [
      { id: 'd1', choices: [{ index: 0, delta: { role: 'assistant', reasoning_content: 'Hm' } }] },
      { id: 'd1', choices: [{ index: 0, delta: { reasoning_content: 'm.' } }] },
      { id: 'd1', choices: [{ index: 0, delta: { content: 'Yes.' }, finish_reason: 'stop' }] },
      {
        id: 'd1',
        choices: [],
        usage: { prompt_tokens: 20, completion_tokens: 5, prompt_cache_hit_tokens: 12 },
      },
    ],
  })
  expect(answer).toEqual([
    { type: 'reasoning', text: 'Hmm.' },
    { type: 'text', text: 'Yes.' },
  ])
  expect(step).toMatchObject({ provider: 'deepseek', usage: { input: 20, output: 5, cacheRead: 12 } })
})

test('Mistral: thoughts as parts of the content', () => {
  const thinking = [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hmm.' }] }]
  const whole = play({
    url: 'https://api.mistral.ai/v1/chat/completions',
    request: chat,
    response: {
      id: 'm1',
      choices: [
        { message: { content: [...thinking, { type: 'text', text: 'Oui.' }] }, finish_reason: 'stop' },
      ],
    },
  })
  const streamed = play({
    url: 'https://api.mistral.ai/v1/chat/completions',
    request: { ...chat, stream: true },
    response: [
      { id: 'm1', choices: [{ delta: { content: thinking } }] },
      { id: 'm1', choices: [{ delta: { content: 'Oui.' }, finish_reason: 'stop' }] },
    ],
  })
  const parts = [
    { type: 'reasoning', text: 'Hmm.' },
    { type: 'text', text: 'Oui.' },
  ]
  expect(whole.answer).toEqual(parts)
  expect(streamed.answer).toEqual(parts)
  expect(streamed.content.streaming!.chunks!.map(([, text]) => text)).toEqual(['Oui.'])
})

test('xAI: reasoning counted beside the output', () => {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 5,
    total_tokens: 115,
    completion_tokens_details: { reasoning_tokens: 100 },
  }
  const { step } = play({
    url: 'https://api.x.ai/v1/chat/completions',
    request: { ...chat, model: 'grok-4' },
    response: { choices: [{ message: { content: 'Ha.' }, finish_reason: 'stop' }], usage },
  })
  expect(step.usage).toMatchObject({ input: 10, output: 105, reasoning: 100 })
})

test('OpenRouter: the price it names is believed', () => {
  const { step } = play({
    url: 'https://openrouter.ai/api/v1/chat/completions',
    request: { ...chat, model: 'meta-llama/llama-3.3-70b-instruct' },
    response: {
      id: 'gen-1',
      model: 'meta-llama/llama-3.3-70b-instruct',
      choices: [{ message: { content: 'Hi.', reasoning: 'Hm.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 5, cost: 0.00042 },
    },
  })
  expect(step).toMatchObject({ cost: 0.00042, costSource: 'reported', provider: 'openrouter' })
})

test('OpenAI: sound in and out', () => {
  const { content, answer, step } = play({
    url: 'https://api.openai.com/v1/chat/completions',
    request: {
      model: 'gpt-4o-audio-preview',
      messages: [
        { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }] },
      ],
    },
    response: {
      choices: [
        {
          message: { content: null, audio: { id: 'a', data: 'BBBB', transcript: 'Hello' } },
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 100,
        completion_tokens: 50,
        prompt_tokens_details: { audio_tokens: 90 },
        completion_tokens_details: { audio_tokens: 40 },
      },
    },
  })
  expect(content.messages![0]!.parts).toEqual([
    { type: 'media', modality: 'audio', mimeType: 'audio/wav', base64: 'AAAA' },
  ])
  expect(answer).toEqual([
    { type: 'text', text: 'Hello' },
    { type: 'media', modality: 'audio', base64: 'BBBB' },
  ])
  expect(step.usage).toMatchObject({ audioInput: 90, audioOutput: 40 })
})

test('OpenAI: tools that ran at the provider, and an answer that is incomplete', () => {
  const { answer, step, content } = play({
    url: 'https://api.openai.com/v1/responses',
    request: {
      model: 'gpt-5',
      input: [
        { role: 'developer', content: 'Search.' },
        { role: 'user', content: [{ type: 'input_image', image_url: 'https://x.test/a.png' }] },
      ],
      tools: [{ type: 'web_search' }],
      conversation: 'conv_1',
    },
    response: {
      id: 'resp_1',
      model: 'gpt-5',
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [
        { type: 'reasoning', summary: [], encrypted_content: 'xyz' },
        {
          type: 'web_search_call',
          id: 'ws_1',
          status: 'completed',
          action: { type: 'search', query: 'cats' },
        },
        { type: 'mcp_call', id: 'mcp_1', name: 'lookup', arguments: '{"id":1}', output: 'found' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Cats a' }] },
      ],
    },
  })
  expect(step).toMatchObject({ finishReasons: ['length'], session: { threadId: 'conv_1' } })
  expect(content.messages!.slice(0, 2)).toEqual([
    { role: 'system', parts: [{ type: 'text', text: 'Search.' }] },
    { role: 'user', parts: [{ type: 'media', modality: 'image', uri: 'https://x.test/a.png' }] },
  ])
  expect(content.toolDefinitions).toEqual([{ type: 'web_search', name: 'web_search' }])
  expect(answer).toEqual([
    { type: 'reasoning', isRedacted: true },
    { type: 'tool-call', id: 'ws_1', name: 'web_search', arguments: { type: 'search', query: 'cats' } },
    { type: 'tool-call', id: 'mcp_1', name: 'lookup', arguments: { id: 1 } },
    { type: 'text', text: 'Cats a' },
  ])
})

test('OpenAI: a streamed response that breaks off is put together from its pieces', () => {
  const { answer, content, step } = play({
    url: 'https://api.openai.com/v1/responses',
    request: { model: 'gpt-5', input: 'Hi', stream: true },
    response: [
      {
        type: 'response.created',
        response: { id: 'resp_2', model: 'gpt-5', status: 'in_progress', output: [] },
      },
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { type: 'function_call', call_id: 'c1', name: 'look', arguments: '' },
      },
      { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"at":' },
      { type: 'response.function_call_arguments.delta', output_index: 0, delta: '1}' },
      {
        type: 'response.output_item.added',
        output_index: 1,
        item: { type: 'message', role: 'assistant', content: [] },
      },
      { type: 'response.output_text.delta', output_index: 1, content_index: 0, delta: 'Half' },
    ],
  })
  expect(answer).toEqual([
    { type: 'tool-call', id: 'c1', name: 'look', arguments: { at: 1 } },
    { type: 'text', text: 'Half' },
  ])
  expect(step).toMatchObject({ responseId: 'resp_2', status: 'ok' })
  expect(content.attributes['playhead.stream.aborted']).toBe(true)
})

test('Anthropic: tools that ran at the provider, documents and citations', () => {
  const { answer, content } = play({
    url: 'https://api.anthropic.com/v1/messages',
    request: {
      model: 'claude-haiku-4-5',
      max_tokens: 10,
      tools: [{ type: 'web_search_20250305', name: 'web_search' }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'A report.' } },
            { type: 'image', source: { type: 'file', file_id: 'file_1' } },
          ],
        },
      ],
    },
    response: {
      id: 'msg_1',
      content: [
        { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'cats' } },
        {
          type: 'web_search_tool_result',
          tool_use_id: 'srv_1',
          content: [{ type: 'web_search_result', url: 'https://x.test' }],
        },
        { type: 'text', text: 'Cats.', citations: [] },
      ],
      stop_reason: 'end_turn',
    },
  })
  expect(content.messages![0]!.parts).toEqual([
    { type: 'text', text: 'A report.' },
    { type: 'media', modality: 'image', fileId: 'file_1' },
  ])
  expect(answer).toEqual([
    { type: 'tool-call', id: 'srv_1', name: 'web_search', arguments: { query: 'cats' } },
    { type: 'tool-result', id: 'srv_1', result: expect.anything() },
    { type: 'text', text: 'Cats.' },
  ])
})

/** A frame of Amazon's event streams; checksums are not looked at. */
function frame(payload: object): Uint8Array {
  const body = Buffer.from(JSON.stringify({ bytes: Buffer.from(JSON.stringify(payload)).toString('base64') }))
  const headers = Buffer.from([4, 0x74, 0x79, 0x70, 0x65, 7, 0, 1, 0x78])
  const head = Buffer.alloc(12)
  head.writeUInt32BE(12 + headers.length + body.length + 4, 0)
  head.writeUInt32BE(headers.length, 4)
  return Buffer.concat([head, headers, body, Buffer.alloc(4)])
}

test('Anthropic at Bedrock: events in binary frames', () => {
  const { answer, step } = play({
    url: 'https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-3-haiku/invoke-with-response-stream',
    request: { anthropic_version: 'bedrock-2023-05-31', max_tokens: 10, messages: chat.messages },
    type: 'application/vnd.amazon.eventstream',
    response: Buffer.concat([
      frame({
        type: 'message_start',
        message: { id: 'msg_2', model: 'claude-3-haiku', usage: { input_tokens: 9 } },
      }),
      frame({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Grüße' } }),
      frame({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } }),
      frame({ type: 'message_stop' }),
    ]),
  })
  expect(answer).toEqual([{ type: 'text', text: 'Grüße' }])
  expect(step).toMatchObject({ provider: 'aws.bedrock', responseId: 'msg_2', usage: { input: 9, output: 4 } })
})

test('Ollama: lines of JSON, and one answer at once', () => {
  const url = 'http://localhost:11434/api/chat'
  const lines = [
    { model: 'llama3', message: { role: 'assistant', content: '', thinking: 'Hm.' }, done: false },
    { model: 'llama3', message: { role: 'assistant', content: 'Hel' }, done: false },
    { model: 'llama3', message: { role: 'assistant', content: 'lo' }, done: false },
    {
      model: 'llama3',
      message: {
        role: 'assistant',
        content: '',
        tool_calls: [{ function: { name: 'look', arguments: { at: 1 } } }],
      },
      done: false,
    },
    {
      model: 'llama3',
      message: { content: '' },
      done: true,
      done_reason: 'stop',
      prompt_eval_count: 26,
      eval_count: 8,
    },
  ]
  const streamed = play({
    url,
    request: { model: 'llama3', messages: chat.messages },
    type: 'application/x-ndjson',
    response: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  })
  expect(streamed.answer).toEqual([
    { type: 'reasoning', text: 'Hm.' },
    { type: 'text', text: 'Hello' },
    { type: 'tool-call', name: 'look', arguments: { at: 1 } },
  ])
  expect(streamed.step).toMatchObject({
    provider: 'ollama',
    usage: { input: 26, output: 8 },
    finishReasons: ['stop'],
    status: 'ok',
  })
  // Nobody pays for what runs at home.
  expect(streamed.step.cost).toBeUndefined()
  const whole = play({
    url: 'http://localhost:11434/api/generate',
    request: { model: 'llama3', prompt: 'Hi', stream: false },
    response: {
      model: 'llama3',
      response: 'Hello',
      done: true,
      done_reason: 'stop',
      prompt_eval_count: 3,
      eval_count: 1,
    },
  })
  expect(whole.answer).toEqual([{ type: 'text', text: 'Hello' }])
})

test('Gemini: a list in place of events, media, code and a blocked prompt', () => {
  const url = 'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent'
  const { answer, content, step } = play({
    url,
    request: {
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'See' },
            { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
            { fileData: { mimeType: 'video/mp4', fileUri: 'gs://b/v.mp4' } },
          ],
        },
      ],
      generationConfig: { responseMimeType: 'application/json' },
    },
    response: JSON.stringify([
      {
        candidates: [{ content: { parts: [{ text: 'Hm.', thought: true }] } }],
        modelVersion: 'gemini-2.5-flash',
        responseId: 'g1',
      },
      { candidates: [{ content: { parts: [{ executableCode: { language: 'PYTHON', code: '1' } }] } }] },
      { candidates: [{ content: { parts: [{ text: '{"a":' }] } }] },
      {
        candidates: [{ content: { parts: [{ text: '1}' }] }, finishReason: 'STOP' }],
        usageMetadata: {
          promptTokenCount: 30,
          toolUsePromptTokenCount: 5,
          candidatesTokenCount: 4,
          thoughtsTokenCount: 6,
          promptTokensDetails: [{ modality: 'IMAGE', tokenCount: 20 }],
        },
      },
    ]),
  })
  expect(content.messages![0]!.parts.slice(1)).toEqual([
    { type: 'media', modality: 'image', mimeType: 'image/png', base64: 'AAAA' },
    { type: 'media', modality: 'video', mimeType: 'video/mp4', uri: 'gs://b/v.mp4' },
  ])
  expect(answer).toEqual([
    { type: 'reasoning', text: 'Hm.' },
    { type: 'tool-call', name: 'code_execution', arguments: { language: 'PYTHON', code: '1' } },
    { type: 'text', text: '{"a":1}' },
  ])
  expect(step.usage).toMatchObject({ input: 35, output: 10, reasoning: 6, imageInput: 20 })
  const blocked = play({
    url: url.replace('streamG', 'g'),
    request: { contents: 'Hi' },
    response: { promptFeedback: { blockReason: 'SAFETY' } },
  })
  expect(blocked.step.finishReasons).toEqual(['content_filter'])
})

test('a stream under the name of something else is still read as one', () => {
  const { answer } = play({
    url: 'http://127.0.0.1:8000/v1/chat/completions',
    request: { ...chat, stream: true },
    type: 'text/plain',
    response: 'data: {"choices":[{"delta":{"content":"Hi."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
  })
  expect(answer).toEqual([{ type: 'text', text: 'Hi.' }])
})

test('a stream asked for that comes at once is read at once', () => {
  const { answer, content } = play({
    url: 'http://127.0.0.1:8000/v1/chat/completions',
    request: { ...chat, stream: true },
    response: { choices: [{ message: { content: 'Hi.' }, finish_reason: 'stop' }] },
  })
  expect(answer).toEqual([{ type: 'text', text: 'Hi.' }])
  expect(content.streaming).toBeUndefined()
})

test('arguments with a key that means something to JavaScript are kept as they are', () => {
  const { answer } = play({
    url: 'https://api.openai.com/v1/chat/completions',
    request: chat,
    response:
      '{"choices":[{"message":{"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\\"__proto__\\":{\\"x\\":1}}"}}]},"finish_reason":"tool_calls"}]}',
  })
  expect(JSON.stringify(answer)).toContain('"__proto__"')
})

test('a body that is too long to be read at once is a call without its answer', () => {
  const { step, content } = play({
    url: 'https://api.openai.com/v1/chat/completions',
    request: chat,
    response: `{"id":"x","choices":[{"message":{"content":"${'x'.repeat(33 * 1024 * 1024)}"}}]}`,
  })
  expect(step).toMatchObject({ status: 'ok', isTruncated: true, model: 'm' })
  expect(content.messages).toHaveLength(1)
})
