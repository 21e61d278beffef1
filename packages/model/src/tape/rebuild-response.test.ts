import { describe, expect, test } from 'vitest'
import { loadJson } from '../../test/load-fixture.ts'
import { makeSpan } from '../../test/make-span.ts'
import { spanToStep } from '../dialects/drafts/span-to-step.ts'
import { isRecord, toObject, type JsonObject } from '../json/attribute-value.ts'
import { parseJson } from '../json/json-text.ts'
import { anthropicMessages } from '../providers/anthropic.ts'
import { writeMessage } from '../providers/conventions.ts'
import { geminiGenerate } from '../providers/gemini.ts'
import { readProviderError, type ModelApi, type ModelResponse } from '../providers/model-api.ts'
import { ollamaChat } from '../providers/ollama.ts'
import { openAiChat } from '../providers/openai-chat.ts'
import { openAiCompletions } from '../providers/openai-completions.ts'
import { openAiResponses } from '../providers/openai-responses.ts'
import type { Step } from '../session/step.ts'
import { missResponse, rebuildResponse, type TapedResponse } from './rebuild-response.ts'

const apis: Record<string, ModelApi> = {
  anthropic: anthropicMessages,
  gemini: geminiGenerate,
  ollama: ollamaChat,
  'openai-chat': openAiChat,
  'openai-completions': openAiCompletions,
  'openai-responses': openAiResponses,
}

type Exchange = {
  name: string
  url: string
  request: JsonObject
  status?: number
  response?: JsonObject
  events?: JsonObject[]
}

const exchanges = Object.keys(apis).flatMap((provider) =>
  (loadJson(`providers/${provider}.json`) as Exchange[])
    .filter(
      ({ url, status, response, events }) =>
        status === undefined && !/embed/i.test(url) && (response ?? events) !== undefined,
    )
    .map((exchange) => ({ ...exchange, provider, title: `${provider}: ${exchange.name}` })),
)

/** What a step does not say: audio, images, other shapes of a call, empty choices, an error instead of an answer. */
const onlyWhenKept = new Set([
  'tool results: lists of parts, JSON, numbers, and ids that only look like numbers',
  'legacy function calls',
  'images, audio and files',
  'several choices, out of order, one of them empty',
  'OpenRouter: cost, cache writes and generated images',
  'stream: audio and its transcript',
  'an error with status 200',
  'several prompts, several choices',
])
/** Streams have no images and no empty choices. */
const onlyWhole = new Set([
  'OpenRouter: cost, cache writes and generated images',
  'several prompts, several choices',
])

describe.each(exchanges)('$title', ({ name, provider, url, request, response, events }) => {
  const api = apis[provider]!
  const assembler = api.createAssembler()
  for (const event of structuredClone(events ?? [])) assembler.add(event)
  const body = response ?? assembler.response()
  const recorded = api.readResponse(structuredClone(body))

  test('the kept answer gives the same response, whole and streamed', () => {
    const step = stepOf(recorded, { 'playhead.response': JSON.stringify(body) })
    expect(readBack(step, api, { url, request, isStream: false })).toEqual(recorded)
    if (onlyWhole.has(name)) return
    expect(said(readBack(step, api, { url, request, isStream: true }))).toEqual(said(recorded))
  })

  test.skipIf(onlyWhenKept.has(name))(
    'a step that any instrumentation recorded gives the same messages, whole and streamed',
    () => {
      const step = stepOf(recorded, {})
      expect(said(readBack(step, api, { url, request, isStream: false }))).toEqual(said(recorded))
      expect(said(readBack(step, api, { url, request, isStream: true }))).toEqual(said(recorded))
    },
  )
})

test.each([
  [
    'openai-chat',
    { error: { message: 'Slow down.', type: 'rate_limit_error', param: null, code: 'rate_limit_exceeded' } },
  ],
  ['anthropic', { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down.' } }],
  ['gemini', { error: { code: 429, message: 'Slow down.', status: 'RESOURCE_EXHAUSTED' } }],
])('%s: a recorded 429 is served in the provider’s words and without a wait', (provider, body) => {
  const step = {
    ...stepOf({ messages: [], finishReasons: [] }, { 'http.response.status_code': 429 }),
    status: 'error' as const,
    error: { type: 'rate_limit_exceeded', message: 'Slow down.' },
  }
  const request = { url: new URL('https://model.example/v1/x'), body: {}, isStream: true }
  expect(rebuildResponse(step, apis[provider]!, request)).toEqual({
    kind: 'response',
    status: 429,
    headers: { 'content-type': 'application/json', 'retry-after-ms': '1' },
    chunks: [JSON.stringify(body)],
  })
})

test.each([
  ['openai-chat', 'server_error'],
  ['openai-chat', 'insufficient_quota'],
  ['anthropic', 'overloaded_error'],
  ['gemini', 'UNKNOWN'],
])('%s: the error %s is read back as it was recorded', (provider, type) => {
  const step = {
    ...stepOf({ messages: [], finishReasons: [] }, { 'http.response.status_code': 503 }),
    status: 'error' as const,
    error: { type, message: 'Later.' },
  }
  const request = { url: new URL('https://model.example/v1/x'), body: {}, isStream: true }
  const response = rebuildResponse(step, apis[provider]!, request)
  const [body] = response?.kind === 'response' ? response.chunks : []
  expect(readProviderError(JSON.parse(body!))).toEqual({ type, message: 'Later.' })
})

test('a call that never got a response fails the same way again', () => {
  const step: Step = {
    ...stepOf({ messages: [], finishReasons: [] }, {}),
    status: 'error',
    error: { type: 'ECONNREFUSED', message: 'connect ECONNREFUSED 10.0.0.1:443' },
  }
  const request = { url: new URL('https://model.example/v1/x'), body: {}, isStream: false }
  expect(rebuildResponse(step, openAiChat, request)).toEqual({
    kind: 'connection-error',
    code: 'ECONNREFUSED',
    message: 'connect ECONNREFUSED 10.0.0.1:443',
  })
})

test('a miss is a 400 that no client retries', () => {
  expect(missResponse('The tape has no model call.', anthropicMessages)).toEqual({
    kind: 'response',
    status: 400,
    headers: { 'content-type': 'application/json', 'x-should-retry': 'false' },
    chunks: [
      '{"type":"error","error":{"type":"invalid_request_error","message":"The tape has no model call."}}',
    ],
  })
})

test('what streams leave out is added to a kept answer: types of calls, and content that is null', () => {
  const assembler = openAiChat.createAssembler()
  const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'find', arguments: '{}' } }
  assembler.add({ id: 'c1', choices: [{ index: 0, delta: { role: 'assistant', tool_calls: [call] } }] })
  const kept = assembler.response()
  const step = stepOf(openAiChat.readResponse(structuredClone(kept)), {
    'playhead.response': JSON.stringify(kept),
  })
  const request = { url: new URL('https://api.openai.com/v1/chat/completions'), body: {} }
  const whole = rebuildResponse(step, openAiChat, { ...request, isStream: false }) as { chunks: string[] }
  expect(JSON.parse(whole.chunks.join(''))).toMatchObject({
    object: 'chat.completion',
    choices: [
      { message: { content: null, refusal: null, tool_calls: [{ id: 'call_1', type: 'function' }] } },
    ],
  })
  const streamed = rebuildResponse(step, openAiChat, { ...request, isStream: true }) as TapedResponse
  expect(eventsOf(streamed as never)[1]).toMatchObject({
    choices: [{ delta: { tool_calls: [{ index: 0, id: 'call_1', type: 'function' }] } }],
  })
})

/** A step as our capture records it. */
function stepOf({ id, model, messages, finishReasons }: ModelResponse, attributes: JsonObject): Step {
  const { outline, content } = spanToStep(
    makeSpan({
      name: 'chat',
      attributes: {
        'gen_ai.operation.name': 'chat',
        ...(id !== undefined && { 'gen_ai.response.id': id }),
        ...(model !== undefined && { 'gen_ai.response.model': model }),
        'gen_ai.response.finish_reasons': finishReasons,
        'gen_ai.output.messages': JSON.stringify(messages.map(writeMessage)),
        ...attributes,
      },
    }),
  )
  return {
    ...outline,
    ...content,
    startedAt: '2026-11-16T12:00:00.000Z',
    offsetMs: 0,
    hasPayload: true,
    cost: null,
  } as never
}

function readBack(
  step: Step,
  api: ModelApi,
  { url, request, isStream }: { url: string; request: JsonObject; isStream: boolean },
): ModelResponse {
  const rebuilt = rebuildResponse(structuredClone(step), api, { url: new URL(url), body: request, isStream })
  if (rebuilt?.kind !== 'response') throw new Error('no response')
  expect(rebuilt.status).toBe(200)
  if (!isStream) return api.readResponse(toObject(parseJson(rebuilt.chunks.join(''))))
  const assembler = api.createAssembler()
  for (const event of eventsOf(rebuilt)) assembler.add(event)
  return api.readResponse(assembler.response())
}

function eventsOf({ chunks, headers }: Extract<TapedResponse, { kind: 'response' }>): JsonObject[] {
  const text = chunks.join('')
  const type = headers['content-type']
  if (type === 'application/json') return parseJson(text) as JsonObject[]
  const lines = text.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('event:'))
  return lines
    .map((line) =>
      (JSON.parse as (text: string) => unknown)(line.replace(/^data: /, '').replace('[DONE]', 'null')),
    )
    .filter(isRecord)
}

/** What the model said and why it stopped. */
function said({ messages }: ModelResponse): unknown {
  return messages.map((message) => {
    const { parts } = writeMessage(message)
    const of = (type: string) => parts.filter((part) => part.type === type)
    return { parts, calls: of('tool_call').length }
  })
}
