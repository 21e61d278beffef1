import { expect, test } from 'vitest'
import { openAiChat } from '../providers/openai-chat.ts'
import type { Step } from '../session/step.ts'
import { withAnswer, withResult } from './edit-step.ts'
import { rebuildResponse } from './rebuild-response.ts'
import { recordedResult } from './tape-entry.ts'

const step = {
  id: 'a',
  parentId: null,
  startedAt: '2026-11-16T09:00:00.000Z',
  status: 'error',
  error: { type: 'Error', message: 'no' },
  attributes: { 'http.response.status_code': 429, 'playhead.response': '{"choices":[]}' },
} as Partial<Step> as Step

test.each([['c_42'], [null], [{ a: [1] }], ['{"a":1}'], [7]])('an action returns %o instead', (result) => {
  const action = {
    ...step,
    tool: { name: 'extract', result: 'old' },
    attributes: {
      'gen_ai.tool.call.result': '"old"',
      'playhead.action.shape': 'promise',
      'playhead.action.types': '{}',
    },
  }
  const edited = withResult(action, result)
  expect(recordedResult(edited)).toEqual(result)
  expect(edited).toMatchObject({ status: 'ok', attributes: { 'playhead.action.shape': 'promise' } })
  expect(edited.error).toBeUndefined()
  expect(edited.attributes).not.toHaveProperty('playhead.action.types')
})

const call = { id: 'call_1', type: 'function', function: { name: 'plan', arguments: '{"id":1}' } }

test.each([
  ['a text', 'Hello', { role: 'assistant', content: 'Hello' }],
  [
    'a message of ours',
    { parts: [{ type: 'tool-call', id: 'call_1', name: 'plan', arguments: { id: 1 } }] },
    { content: null, tool_calls: [call] },
  ],
  [
    'text and calls',
    { text: 'Wait', toolCalls: [{ id: 'call_1', name: 'plan', arguments: { id: 1 } }] },
    { content: 'Wait', tool_calls: [call] },
  ],
  [
    "the provider's own response",
    { choices: [{ index: 0, message: { role: 'assistant', content: 'Own' }, finish_reason: 'stop' }] },
    { content: 'Own' },
  ],
  ['any other JSON as text', { plan: 'pro' }, { content: '{"plan":"pro"}' }],
])('a model answers %s instead', (_name, answer, message) => {
  const response = rebuildResponse(withAnswer({ ...step, kind: 'llm', name: 'chat' }, answer), openAiChat, {
    url: new URL('https://model.invalid/v1/chat/completions'),
    body: {},
    isStream: false,
  })
  if (response?.kind !== 'response') throw new Error('no response')
  expect(response.status).toBe(200)
  expect(JSON.parse(response.chunks.join(''))).toMatchObject({ choices: [{ message }] })
})
