import { expect, test } from 'vitest'
import { chat, play, useRecorder } from './play-exchange.ts'

useRecorder()

/** A frame of an Amazon event stream; its checksums are ignored. */
function frame(payload: object): Uint8Array {
  const body = Buffer.from(JSON.stringify({ bytes: Buffer.from(JSON.stringify(payload)).toString('base64') }))
  const headers = Buffer.from([4, 0x74, 0x79, 0x70, 0x65, 7, 0, 1, 0x78])
  const head = Buffer.alloc(12)
  head.writeUInt32BE(12 + headers.length + body.length + 4, 0)
  head.writeUInt32BE(headers.length, 4)
  return Buffer.concat([head, headers, body, Buffer.alloc(4)])
}

test('Anthropic: server tools, documents and citations', () => {
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
    { type: 'tool-call', id: 'srv_1', name: 'web_search', arguments: { query: 'cats' }, isServerSide: true },
    { type: 'tool-result', id: 'srv_1', result: expect.anything(), isServerSide: true },
    { type: 'text', text: 'Cats.' },
  ])
})

test('Anthropic on Bedrock: events in binary frames', () => {
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
