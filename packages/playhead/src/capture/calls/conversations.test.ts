import { expect, test } from 'vitest'
import type { Span } from '@opentelemetry/api'
import type { ModelRequest, ModelResponse } from '@playhead/model'
import { Conversations } from './conversations.ts'

const [first, second] = ['1', '2'].map((digit) => spanOf(digit)) as [Span, Span]

function spanOf(digit: string, parentSpanId?: string): Span {
  const context = { traceId: digit.repeat(32), spanId: digit.repeat(16), traceFlags: 1 }
  return { spanContext: () => context, parentSpanId } as unknown as Span
}

type Messages = ModelRequest['messages']
const user = (text: string): Messages[number] => ({ role: 'user', parts: [{ type: 'text', text }] })
const asks = (id?: string, city = 'Köln'): Messages[number] => ({
  role: 'assistant',
  parts: [{ type: 'tool-call', ...(id !== undefined && { id }), name: 'weather', arguments: { city } }],
})
const answers = (id?: string): Messages[number] => ({
  role: 'tool',
  parts: [{ type: 'tool-result', ...(id !== undefined && { id }), result: 'rain' }],
})

function request(messages: Messages, previous?: string): ModelRequest {
  const attributes = previous === undefined ? {} : { 'gen_ai.request.previous_response_id': previous }
  return { operation: 'chat', isStream: false, messages, attributes }
}

function response(messages: Messages, id?: string): ModelResponse {
  return { messages, finishReasons: [], ...(id !== undefined && { id }) }
}

const firstStep = `${'1'.repeat(32)}-${'1'.repeat(16)}`

test('a call with the results of the tools that another one asked for continues it', () => {
  const conversations = new Conversations()
  conversations.remember(first, request([user('Rain?')]), response([asks('call_1')]))
  const find = (...messages: Messages) => conversations.find(second, request(messages))

  expect(find(user('Rain?'), asks('call_1'), answers('call_1'))).toBe(firstStep)
  expect(find(user('Snow?'), asks('call_1'), answers('call_1'))).toBe(undefined)
  expect(find(user('Rain?'), asks('call_2'), answers('call_2'))).toBe(undefined)
  expect(find(user('Rain?'), asks('call_1'))).toBe(undefined)
  expect(find(user('Rain?'))).toBe(undefined)
})

test('tool calls without ids are told apart by their arguments', () => {
  const conversations = new Conversations()
  conversations.remember(first, request([user('Rain?')]), response([asks()]))

  expect(conversations.find(second, request([user('Rain?'), asks(), answers()]))).toBe(firstStep)
  expect(conversations.find(second, request([user('Rain?'), asks(undefined, 'Bonn'), answers()]))).toBe(
    undefined,
  )
})

test('a response that is named is continued by tool results, and a new turn of the user begins anew', () => {
  const conversations = new Conversations()
  conversations.remember(first, request([user('Rain?')]), response([asks('call_1')], 'resp_1'))

  expect(conversations.find(second, request([answers('call_1')], 'resp_1'))).toBe(firstStep)
  expect(conversations.find(second, request([user('And snow?')], 'resp_1'))).toBe(undefined)
})

test('calls in a session are neither remembered nor continued', () => {
  const conversations = new Conversations()
  const inside = spanOf('3', 'f'.repeat(16))
  const answer = request([user('Rain?'), asks('call_1'), answers('call_1')])
  conversations.remember(inside, request([user('Rain?')]), response([asks('call_1')]))
  expect(conversations.find(second, answer)).toBe(undefined)

  conversations.remember(first, request([user('Rain?')]), response([asks('call_1')]))
  expect(conversations.find(inside, answer)).toBe(undefined)
})

test('the oldest calls are forgotten', () => {
  const conversations = new Conversations()
  const answer = request([user('Rain?'), asks('call_0'), answers('call_0')])
  conversations.remember(first, request([user('Rain?')]), response([asks('call_0')]))
  for (let index = 1; index < 2_000; index++)
    conversations.remember(second, request([user('Rain?')]), response([asks(`call_${index}`)]))
  expect(conversations.find(second, answer)).toBe(firstStep)

  conversations.remember(second, request([user('Rain?')]), response([asks('one more')]))
  expect(conversations.find(second, answer)).toBe(undefined)
})
