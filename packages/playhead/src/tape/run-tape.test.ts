import Anthropic from '@anthropic-ai/sdk'
import type { Session, Step } from '@playhead/model'
import { isMiss, Tape } from '@playhead/model'
import { ChatOpenAI } from '@langchain/openai'
import OpenAI from 'openai'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startRecorder, type Recorder } from '../../test/clients/recorder.ts'
import { setTape } from '../record/session/active-tape.ts'
import { createRunTape, type RunTape } from './run-tape.ts'

let recorder: Recorder

beforeEach(() => {
  recorder = startRecorder()
})

afterEach(() => {
  setTape(undefined)
  recorder.uninstall()
})

/** No such host exists. */
const baseURL = 'https://model.invalid/v1'
const openai = new OpenAI({ apiKey: 'none', baseURL, maxRetries: 2 })
const anthropic = new Anthropic({ apiKey: 'none', baseURL: 'https://model.invalid', maxRetries: 2 })

const step: Omit<Step, 'id'> = {
  parentId: null,
  kind: 'llm',
  name: 'chat',
  model: 'gpt-4o-2024-08-06',
  requestedModel: 'gpt-4o',
  startedAt: '2026-11-16T09:00:00.000Z',
  endedAt: '2026-11-16T09:00:01.000Z',
  offsetMs: 0,
  durationMs: 1000,
  status: 'ok',
  hasPayload: true,
  cost: null,
  dialect: 'playhead',
  responseId: 'chatcmpl-1',
  usage: { input: 12, output: 7 },
}

const question = { role: 'user' as const, content: 'Größe von Tromsø? 🏔️' }
const asked = { role: 'user', parts: [{ type: 'text' as const, text: question.content }] }
const replies = {
  role: 'assistant',
  isOutput: true,
  parts: [
    { type: 'text' as const, text: 'Ich schaue nach: 🏔️' },
    { type: 'tool-call' as const, id: 'call_1', name: 'size_of', arguments: { city: 'Tromsø' } },
  ],
}

function play(...steps: Partial<Step>[]): RunTape {
  const session: Session = {
    session: { id: 'a'.repeat(32) } as Session['session'],
    steps: steps.map((change, index) => ({
      ...step,
      id: `step-${index}`,
      messages: [asked, replies],
      ...change,
    })),
  }
  const tape = createRunTape({
    parent: session,
    tapes: [],
    lane: 'tape',
    onMiss: 'fail',
    allowWrites: [],
    agent: {},
    content: () => ({ content: true, redactText: (text) => text, maxValueBytes: 1e6 }),
  })
  setTape(() => tape)
  return tape
}

const expectedCall = {
  id: 'call_1',
  type: 'function',
  function: { name: 'size_of', arguments: '{"city":"Tromsø"}' },
}

test('a client that was built before gets the recorded answer, and the call is recorded again', async () => {
  const tape = play({})
  const { choices, usage } = await openai.chat.completions.create({ model: 'gpt-4o', messages: [question] })
  expect(choices[0]!.message).toMatchObject({ content: 'Ich schaue nach: 🏔️', tool_calls: [expectedCall] })
  expect(usage).toMatchObject({ prompt_tokens: 12, completion_tokens: 7 })
  expect(tape.counts).toEqual({ taped: 1, live: 0, stubbed: 0 })
  expect(recorder.call().step).toMatchObject({ model: 'gpt-4o-2024-08-06', usage: { input: 12, output: 7 } })
})

test('as a stream, with usage in the last chunk', async () => {
  play({})
  const stream = openai.chat.completions.stream({
    model: 'gpt-4o',
    messages: [question],
    stream_options: { include_usage: true },
  })
  const { choices, usage } = await stream.finalChatCompletion()
  expect(choices[0]!.message.tool_calls).toMatchObject([expectedCall])
  expect(usage).toMatchObject({ total_tokens: 19 })
})

test('a recorded 429 is served once, and the retry gets the answer', async () => {
  const refused = {
    status: 'error' as const,
    messages: [asked],
    attributes: { 'http.response.status_code': 429 },
  }
  const tape = play({ ...refused, error: { type: 'rate_limit', message: 'Slow down' } }, {})
  const { choices } = await openai.chat.completions.create({ model: 'gpt-4o', messages: [question] })
  expect(choices[0]!.message.content).toBe('Ich schaue nach: 🏔️')
  expect(tape.counts.taped).toBe(2)
  // The client drops the body of the refusal unread.
  expect(recorder.calls().map(({ step: { error } }) => error)).toEqual([
    { type: 'rate_limit', message: 'Slow down' },
    undefined,
  ])
})

test('a miss is one request that fails with the sentence', async () => {
  const tape = play({})
  const other = { role: 'user' as const, content: 'Größe von Bodø?' }
  await expect(openai.chat.completions.create({ model: 'gpt-4o', messages: [other] })).rejects.toThrow(
    'message 1 (user) is "Größe von Bodø?", recorded was "Größe von Tromsø? 🏔️"',
  )
  expect(tape.misses).toHaveLength(1)
})

test('an abort in the middle ends the stream', async () => {
  play({})
  const stream = await openai.chat.completions.create({ model: 'gpt-4o', messages: [question], stream: true })
  const seen: unknown[] = []
  for await (const chunk of stream) {
    seen.push(chunk)
    if (seen.length === 2) stream.controller.abort()
  }
  expect(seen).toHaveLength(2)
})

test('Anthropic gets its own events', async () => {
  play({ model: 'claude-sonnet-4-5', requestedModel: 'claude-sonnet-4-5' })
  const stream = anthropic.messages.stream({
    model: 'claude-sonnet-4-5',
    max_tokens: 100,
    messages: [question],
  })
  const events: string[] = []
  stream.on('streamEvent', ({ type }) => events.push(type))
  expect((await stream.finalMessage()).content).toMatchObject([
    { type: 'text', text: 'Ich schaue nach: 🏔️' },
    { type: 'tool_use', id: 'call_1', name: 'size_of', input: { city: 'Tromsø' } },
  ])
  expect([...new Set(events)]).toEqual([
    'message_start',
    'content_block_start',
    'content_block_delta',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ])
})

test('a request that is no model call is refused and named', async () => {
  const tape = play({})
  const response = await fetch('https://model.invalid/secrets?x=1')
  expect(response.status).toBe(400)
  expect(tape.misses).toMatchObject([
    {
      sentence:
        'The run made a request that is not on the tape: GET https://model.invalid/secrets. Record what makes it with recordTool.',
    },
  ])
})

test('a WebSocket is named as one', async () => {
  const tape = play({})
  const socket = new WebSocket('wss://model.invalid/realtime')
  await new Promise((resolve) => socket.addEventListener('error', resolve))
  expect(tape.misses).toMatchObject([
    {
      sentence:
        'The run opened a WebSocket to model.invalid, and WebSockets are not recorded. Use it in a function that recordTool wraps.',
    },
  ])
})

test('LangChain gets its tokenizer from the package that it has the code from', async () => {
  const text = (said: string) => [{ type: 'text' as const, text: said }]
  const tape = play({
    messages: [
      { role: 'user', parts: text('Hi') },
      { role: 'assistant', isOutput: true, parts: text('Hello there') },
    ],
  })
  const model = new ChatOpenAI({
    model: 'gpt-4o',
    streaming: true,
    apiKey: 'none',
    configuration: { baseURL },
  })
  expect((await model.invoke('Hi')).content).toBe('Hello there')
  expect(tape.misses).toEqual([])
})

test('a tape is asked as often as it was recorded', () => {
  const tape = new Tape([
    { session: {} as Session['session'], steps: [{ ...step, id: 'a', messages: [asked, replies] }] },
  ])
  expect(isMiss(tape.takeModelCall({ model: 'gpt-4o', messages: [asked] }))).toBe(false)
  expect(isMiss(tape.takeModelCall({ model: 'gpt-4o', messages: [asked] }))).toBe(true)
})
