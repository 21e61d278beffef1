import { expect, test } from 'vitest'
import { chat, play, useRecorder } from '../../../test/clients/play-exchange.ts'

useRecorder()

test('a stream with the wrong content type is still parsed as a stream', () => {
  const { answer } = play({
    url: 'http://127.0.0.1:8000/v1/chat/completions',
    request: { ...chat, stream: true },
    type: 'text/plain',
    response: 'data: {"choices":[{"delta":{"content":"Hi."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
  })
  expect(answer).toEqual([{ type: 'text', text: 'Hi.' }])
})

test('a whole response to a streaming request is parsed as a whole', () => {
  const { answer, content } = play({
    url: 'http://127.0.0.1:8000/v1/chat/completions',
    request: { ...chat, stream: true },
    response: { choices: [{ message: { content: 'Hi.' }, finish_reason: 'stop' }] },
  })
  expect(answer).toEqual([{ type: 'text', text: 'Hi.' }])
  expect(content.streaming).toBeUndefined()
})

test('arguments with the key __proto__ stay unchanged', () => {
  const { answer } = play({
    url: 'https://api.openai.com/v1/chat/completions',
    request: chat,
    response:
      '{"choices":[{"message":{"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\\"__proto__\\":{\\"x\\":1}}"}}]},"finish_reason":"tool_calls"}]}',
  })
  expect(JSON.stringify(answer)).toContain('"__proto__"')
})

test('a call whose response is too long is recorded without it', () => {
  const { step, content } = play({
    url: 'https://api.openai.com/v1/chat/completions',
    request: chat,
    response: `{"id":"x","choices":[{"message":{"content":"${'x'.repeat(33 * 1024 * 1024)}"}}]}`,
  })
  expect(step).toMatchObject({ status: 'ok', isTruncated: true, model: 'm' })
  expect(content.messages).toHaveLength(1)
})

test('the response itself is kept, without what it repeats', () => {
  const response = {
    id: 'msg_1',
    content: [
      { type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmVk' },
      { type: 'text', text: 'Hello.' },
    ],
    stop_reason: 'end_turn',
  }
  const { content } = play({
    url: 'https://api.anthropic.com/v1/messages',
    request: { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] },
    response: { ...response, tools: ['repeated'] },
  })
  expect(JSON.parse(String(content.attributes['playhead.response']))).toEqual(response)
})

test('the kept response of a stream is the one that a request without streaming would get', () => {
  const { content } = play({
    url: 'http://127.0.0.1:8000/v1/chat/completions',
    request: { ...chat, stream: true },
    type: 'text/event-stream',
    response:
      'data: {"id":"x","choices":[{"delta":{"content":"H"}}]}\n\ndata: {"id":"x","choices":[{"delta":{"content":"i"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
  })
  expect(JSON.parse(String(content.attributes['playhead.response']))).toEqual({
    id: 'x',
    choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }],
  })
})
