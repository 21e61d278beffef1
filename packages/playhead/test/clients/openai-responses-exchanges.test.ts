import { expect, test } from 'vitest'
import { play, useRecorder } from './play-exchange.ts'

useRecorder()

test('OpenAI: built-in tools, and an incomplete response', () => {
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
    {
      type: 'tool-call',
      id: 'ws_1',
      name: 'web_search',
      arguments: { type: 'search', query: 'cats' },
      isServerSide: true,
    },
    { type: 'tool-call', id: 'mcp_1', name: 'lookup', arguments: { id: 1 }, isServerSide: true },
    { type: 'text', text: 'Cats a' },
  ])
})

test('OpenAI: a stream that breaks off is assembled from its deltas', () => {
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
