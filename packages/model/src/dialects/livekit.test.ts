import { expect, test } from 'vitest'
import { stepOf } from '../../test/steps-of.ts'

test('turns, requests and tools of a voice agent', () => {
  const turn = stepOf({
    scope: 'livekit-agents',
    name: 'agent_turn',
    attributes: { 'lk.agent_label': 'agent', 'lk.user_input': 'hi', 'lk.response.text': 'hello' },
  })
  const tool = stepOf({
    scope: 'livekit-agents',
    name: 'function_tool',
    attributes: {
      'lk.function_tool.name': 'lookup',
      'lk.function_tool.id': 'c1',
      'lk.pii.function_tool.arguments': '{"q":"x"}',
      'lk.pii.function_tool.output': 'nothing',
      'lk.function_tool.is_error': true,
    },
  })
  const node = stepOf({
    scope: 'livekit-agents',
    name: 'llm_node',
    attributes: {
      'lk.chat_ctx': '{"items":[{"type":"message","role":"user","content":["hi"]}]}',
      'lk.response.text': 'hello',
      'lk.response.function_calls': '[{"call_id":"c1","name":"lookup","arguments":"{}"}]',
    },
  })

  expect(turn.outline).toMatchObject({
    kind: 'agent',
    inputPreview: 'hi',
    outputPreview: 'hello',
    dialect: 'livekit',
  })
  expect(tool.outline).toMatchObject({ kind: 'action', name: 'lookup', status: 'error', inputPreview: 'q=x' })
  expect(node.content.messages).toEqual([
    { role: 'user', parts: [{ type: 'text', text: 'hi' }] },
    {
      role: 'assistant',
      parts: [
        { type: 'text', text: 'hello' },
        { type: 'tool-call', id: 'c1', name: 'lookup', arguments: {} },
      ],
      isOutput: true,
    },
  ])
})
