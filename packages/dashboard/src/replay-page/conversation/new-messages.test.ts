import type { Message } from '@playhead/model'
import { expect, test } from 'vitest'
import { actionOf, callOf, previousCall } from './model-calls.ts'
import { findLlmCalls } from '../playback/playhead-state.ts'
import { compareConversation } from './new-messages.ts'
import { makeTimeline } from '../../../test/make-session.ts'

const text = (role: string, words: string, more: Partial<Message> = {}): Message => ({
  role,
  parts: [{ type: 'text', text: words }],
  ...more,
})
const call = (given: unknown): Message => ({
  role: 'assistant',
  parts: [
    { type: 'reasoning', text: 'hm' },
    { type: 'tool-call', id: '1', name: 'search', arguments: given },
  ],
})

test('messages that the previous call did not have are new; its answer is not', () => {
  const first = [
    text('system', 'be kind'),
    text('user', 'hello'),
    { ...call({ q: 1 }), isOutput: true, finishReason: 'tool' },
  ]
  const second = [
    text('system', 'be kind'),
    text('user', 'hello'),
    {
      role: 'assistant',
      parts: [{ type: 'tool-call' as const, id: '1', name: 'search', arguments: '{"q": 1}' }],
    },
    { role: 'tool', parts: [{ type: 'tool-result' as const, id: '1', result: 'found' }] },
    text('assistant', 'there it is', { isOutput: true }),
  ]
  const { sent, answered, droppedCount } = compareConversation(second, first)
  expect(sent.map(({ isNew }) => isNew)).toEqual([false, false, false, true])
  expect(answered).toHaveLength(1)
  expect(droppedCount).toBe(0)
})

test('nothing is marked in the first call', () => {
  expect(compareConversation([text('user', 'hello')], undefined).sent).toEqual([
    { message: text('user', 'hello'), isNew: false },
  ])
})

test('a repeated message is new the second time, and dropped messages are counted', () => {
  const again = compareConversation(
    [text('user', 'go on'), text('user', 'go on')],
    [text('user', 'go on'), text('user', 'old')],
  )
  expect(again.sent.map(({ isNew }) => isNew)).toEqual([false, true])
  expect(again.droppedCount).toBe(1)
})

const timeline = makeTimeline([
  { id: 'lead', kind: 'agent', durationMs: 1000 },
  { id: 'lead-1', parentId: 'lead', kind: 'llm', offsetMs: 10 },
  { id: 'helper', parentId: 'lead', kind: 'agent', offsetMs: 20, durationMs: 500 },
  { id: 'helper-1', parentId: 'helper', kind: 'llm', offsetMs: 30 },
  { id: 'search', parentId: 'helper', offsetMs: 40, tool: { name: 'search', callId: 'call-1' } },
  { id: 'lead-2', parentId: 'lead', kind: 'llm', offsetMs: 600 },
  { id: 'write', parentId: 'lead', offsetMs: 700, tool: { name: 'write' } },
])
const calls = findLlmCalls(timeline)
const at = (id: string) => timeline.positionOf.get(id)!

test('a step belongs to the last call of its agent', () => {
  expect(callOf(timeline, calls, at('search'))).toBe(at('helper-1'))
  expect(callOf(timeline, calls, at('write'))).toBe(at('lead-2'))
  expect(callOf(timeline, calls, at('lead-2'))).toBe(at('lead-2'))
  expect(callOf(timeline, calls, at('helper'))).toBe(at('helper-1'))
  expect(callOf(timeline, calls, at('lead'))).toBe(at('lead-2'))
})

test('an agent belongs to its last call that had begun at a time', () => {
  expect(callOf(timeline, calls, at('lead'), 599)).toBe(at('helper-1'))
  expect(callOf(timeline, calls, at('lead'), 29)).toBe(at('lead-1'))
  expect(callOf(timeline, calls, at('lead'), 9)).toBeUndefined()
  expect(callOf(timeline, calls, at('helper'), 25)).toBe(at('lead-1'))
})

test('the previous call is that of the same agent', () => {
  expect(previousCall(timeline, calls, at('lead-2'))).toBe(at('lead-1'))
  expect(previousCall(timeline, calls, at('helper-1'))).toBeUndefined()
})

test('a tool call leads to its action, by id or by name', () => {
  expect(actionOf(timeline, at('helper-1'), { id: 'call-1' })).toBe(at('search'))
  expect(actionOf(timeline, at('lead-2'), { id: 'unknown', name: 'write' })).toBe(at('write'))
  expect(actionOf(timeline, at('lead-2'), { name: 'nothing' })).toBeUndefined()
  expect(actionOf(timeline, undefined, { name: 'write' })).toBeUndefined()
})
