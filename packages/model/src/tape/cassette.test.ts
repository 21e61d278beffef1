import { describe, expect, test } from 'vitest'
import { loadTexts } from '../../test/load-fixture.ts'
import { readScenarios } from '../../test/planted-faults.ts'
import { anthropicMessages } from '../providers/anthropic.ts'
import { geminiGenerate } from '../providers/gemini.ts'
import type { ModelApi } from '../providers/model-api.ts'
import { ollamaChat } from '../providers/ollama.ts'
import { openAiChat } from '../providers/openai-chat.ts'
import { openAiResponses } from '../providers/openai-responses.ts'
import { createRedactor } from '../redaction/redact.ts'
import { parseCassette, readCassette, type Cassette, type CassetteEntry } from './cassette.ts'
import { apiNamed } from './model-api-names.ts'
import { sessionsToCassette } from './session-to-cassette.ts'
import type { TapedResponse } from './rebuild-response.ts'
import { isMiss, Tape } from './tape.ts'
import type { ModelEntry } from './tape-entry.ts'
import { respondFromEntry } from './taped-response.ts'
import { assembleEvents, writeCassette } from './write-cassette.ts'

const golden = loadTexts('cassettes')
const meta = { name: 'a test', recordedAt: '2026-11-16T09:00:00.000Z', playhead: '0.1.0' }

test.each(golden)('$file is written as it was read', ({ text }) => {
  expect(writeCassette(readCassette(text))).toBe(text)
})

test.each(golden)('$file answers everything that it holds', ({ text }) => {
  const tape = new Tape([readCassette(text)])
  for (const entry of tape.entries)
    expect(
      entry.kind === 'model' ? tape.takeModelCall(entry.step) : tape.takeAction(entry.name, entry.arguments),
    ).toBe(entry)
  expect(tape.unused).toEqual([])
})

describe('answers in another form than recorded', () => {
  const spoken = (api: ModelApi, body: object) => api.readResponse({ ...body }).messages
  const answered = (entry: CassetteEntry, api: ModelApi, url: string, isStream: boolean) => {
    const taped = new Tape([readCassette(write(entry))]).entries[0] as ModelEntry
    const { chunks } = respondFromEntry(taped, api, { url: new URL(url), body: {}, isStream }) as Responded
    return chunks
  }
  const assembled = (chunks: string[]) =>
    assembleEvents(
      chunks.map((text) => [0, text]),
      'gemini-generate',
    )
  const gemini = 'http://model.test/v1beta/models/gemini-2.5-flash'
  const piece = (text: string, rest = {}) => ({
    candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0, ...rest }],
  })
  const pieces = [piece('Grü'), piece('ße', { finishReason: 'STOP' })]
  const headers = { 'content-type': 'application/json' }
  const listed: CassetteEntry = {
    ...modelCall(),
    api: 'gemini-generate',
    answer: { status: 200, headers, body: pieces },
  }
  const events = pieces.map((data): [number, string] => [0, `data: ${JSON.stringify(data)}\r\n\r\n`])
  const streamed: CassetteEntry = { ...listed, answer: { status: 200, headers, events } }

  test.each([listed, streamed])('of Gemini: events, a JSON list, one body', (entry) => {
    const sse = answered(entry, geminiGenerate, `${gemini}:streamGenerateContent?alt=sse`, true)
    const list = answered(entry, geminiGenerate, `${gemini}:streamGenerateContent`, true)
    const whole = answered(entry, geminiGenerate, `${gemini}:generateContent`, false)
    const expected = spoken(geminiGenerate, piece('Grüße', { finishReason: 'STOP' }))
    expect(JSON.parse(list.join(''))).toBeInstanceOf(Array)
    for (const chunks of [sse, list, whole])
      expect(spoken(geminiGenerate, assembled(chunks)!)).toEqual(expected)
  })

  test('of Ollama’s generate', () => {
    const line = (fields: object) => `${JSON.stringify({ model: 'llama3.2', ...fields })}\n`
    const lines = [line({ response: 'Grü' }), line({ response: 'ße', done: true, done_reason: 'stop' })]
    const entry: CassetteEntry = {
      ...modelCall(),
      api: 'ollama-chat',
      answer: { status: 200, headers, events: lines.map((text) => [0, text]) },
    }
    const whole = answered(entry, ollamaChat, 'http://model.test/api/generate', false)
    expect(JSON.parse(whole.join(''))).toEqual({
      model: 'llama3.2',
      response: 'Grüße',
      done: true,
      done_reason: 'stop',
    })
  })
})

describe.each(readScenarios())('$name', ({ session }) => {
  const read = readCassette(writeCassette(sessionsToCassette([session], meta)))

  test('a cassette of a stored session answers the same questions in the same words', () => {
    const [stored, written] = [new Tape([session]), new Tape([read])]
    for (const entry of stored.entries) {
      const found =
        entry.kind === 'model'
          ? written.takeModelCall(entry.step)
          : written.takeAction(entry.name, entry.arguments)
      if (isMiss(found)) throw new Error(found.sentence)
      if (entry.kind !== 'model' || found.kind !== 'model') continue
      for (const isStream of [false, true])
        expect(saidBy(found, openAiChat, isStream)).toEqual(saidBy(entry, openAiChat, isStream))
    }
    expect(written.unused).toEqual([])
  })

  test('a session joined with itself is no longer than alone', () => {
    expect(sessionsToCassette([session, session], meta).entries).toHaveLength(read.entries.length)
  })
})

test('added entries leave the lines before them as they are', () => {
  const cassette = readCassette(textOf('support.jsonl'))
  const first = { ...cassette, entries: cassette.entries.slice(0, 3) }
  expect(writeCassette(cassette).startsWith(writeCassette(first))).toBe(true)
})

describe('the form of the answer is that of the request', () => {
  const [entry] = new Tape([readCassette(textOf('anthropic-stream.jsonl'))]).entries as [ModelEntry]
  const { answer } = entry.exact as { answer: { events: [number, string][] } }

  test('the same API as a stream: the recorded events', () => {
    expect(respond(entry, anthropicMessages, true)).toEqual({
      kind: 'response',
      status: 200,
      headers: { 'content-type': 'text/event-stream; charset=utf-8', 'request-id': 'req_011' },
      chunks: answer.events.map(([, text]) => text),
    })
  })

  test('the same API without a stream: the assembled answer', () => {
    const { chunks } = respond(entry, anthropicMessages, false)
    expect(JSON.parse(chunks.join(''))).toEqual(assembleEvents(answer.events, 'anthropic-messages'))
  })

  test('another API', () => {
    const { chunks } = respond(entry, openAiChat, false)
    expect(JSON.parse(chunks.join(''))).toMatchObject({
      object: 'chat.completion',
      choices: [
        {
          message: {
            content: 'Ich schaue nach: 🏔️',
            tool_calls: [{ id: 'toolu_01', function: { name: 'size_of', arguments: '{"city":"Tromsø"}' } }],
          },
          finish_reason: 'tool_calls',
        },
      ],
    })
  })

  test('failures: the body without the wait, the error in the words of another API, the broken connection', () => {
    const [busy, broken, , aborted] = new Tape([readCassette(textOf('failures.jsonl'))])
      .entries as ModelEntry[]
    expect(respond(busy!, openAiChat, true)).toEqual({
      kind: 'response',
      status: 429,
      headers: { 'content-type': 'application/json', 'retry-after': '0', 'retry-after-ms': '1' },
      chunks: [
        '{"error":{"message":"Slow down.","type":"rate_limit_error","param":null,"code":"rate_limit_exceeded"}}',
      ],
    })
    expect(JSON.parse(respond(busy!, anthropicMessages, false).chunks.join(''))).toEqual({
      type: 'error',
      error: { type: 'rate_limit_error', message: 'Slow down.' },
    })
    expect(respond(broken!, openAiResponses, false)).toEqual({
      kind: 'connection-error',
      code: 'ECONNRESET',
      message: 'socket hang up',
    })
    expect(respond(aborted!, openAiChat, true)).toMatchObject({ isAborted: true })
  })
})

const SECRET = 'sk-proj-Ab12Cd34Ef56Gh78Ij90'

describe('a secret is in no cassette', () => {
  test('in a stream that cuts it into pieces', () => {
    const cut = ['Use sk-pr', 'oj-Ab12Cd34', 'Ef56Gh78Ij90', ' for it.']
    const written = write({
      ...modelCall(),
      answer: {
        status: 200,
        headers: { 'content-type': 'text/event-stream' },
        events: [
          ...cut.map((content, index) => chunkOf({ content }, index * 10)),
          chunkOf({}, 50, 'stop'),
          [51, 'data: [DONE]\n\n'],
        ],
      },
    })
    expect(written).not.toMatch(/Cd34|Gh78/)
    expect(written).toContain('Use [redacted] for it.')
  })

  test.each([
    ['openai-chat', '/v1/chat/completions'],
    ['openai-completions', '/v1/completions'],
    ['openai-responses', '/v1/responses'],
    ['anthropic-messages', '/v1/messages'],
    ['gemini-generate', '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse'],
    ['ollama-chat', '/api/chat'],
    ['ollama-chat', '/api/generate'],
  ])('in a stream of %s (%s) that cuts it into pieces', (api, path) => {
    const { writer } = apiNamed(api)!
    const cut = ['Use sk-pr', 'oj-Ab12Cd34', 'Ef56Gh78Ij90', ' for it.']
    const reply = { text: cut.join(''), reasoning: '', calls: [], finish: 'stop' as const }
    const parts = [{ type: 'text' as const, text: reply.text }]
    const answer = { id: 'r1', model: 'm', createdAt: 0, replies: [{ ...reply, parts }] }
    const request = { url: new URL(path, 'http://model.test'), body: {} }
    const whole = writer!.write(answer, request)
    const events = writer!.stream(whole, request, cut).map((text): [number, string] => [0, text])
    expect(events.join('')).toContain('oj-Ab12Cd34')
    const written = write({ ...modelCall(), api, path, answer: { status: 200, headers: {}, events } })
    expect(written).not.toMatch(/Cd34|Gh78/)
    expect(written).toContain('[redacted] for it.')
    const [entry] = readCassette(written).entries
    const again = assembleEvents((entry as { answer: { events: typeof events } }).answer.events, api)
    expect(JSON.stringify(again)).toContain('Use [redacted] for it.')
  })

  test('in the pieces of a generator', () => {
    const pieces = ['the key is ', 'sk-proj-Ab12', 'Cd34Ef56Gh78Ij90']
    const written = write({ kind: 'action', name: 'read', shape: 'generator', result: pieces })
    expect(written).toContain('"result":["the key is [redacted]"]')
  })

  test('in headers that are kept; others are not written', () => {
    const headers = {
      'x-request-id': SECRET,
      'set-cookie': 'a=b',
      authorization: 'Basic x',
      'retry-after': '2',
    }
    expect(readBack({ ...modelCall(), answer: { status: 500, headers, body: '' } })).toMatchObject({
      answer: { headers: { 'x-request-id': '[redacted]', 'retry-after': '2' } },
    })
  })

  test('under a secret key in what tools are given and return, and with rules of the user', () => {
    const redactor = createRedactor(['ssn', /INV-\d+/])
    const action: CassetteEntry = {
      kind: 'action',
      name: 'read',
      arguments: { password: 'x', ssn: 12 },
      result: { token: 'abc', note: 'INV-22', empty: { secret: '' } },
    }
    expect(readBack(action, redactor)).toEqual({
      kind: 'action',
      name: 'read',
      arguments: { password: '[redacted]', ssn: '[redacted]' },
      result: { token: '[redacted]', note: '[redacted]', empty: { secret: '' } },
    })
  })

  test('what the provider signed is not changed, although it looks like one', () => {
    const body = { type: 'message', content: [{ type: 'thinking', thinking: SECRET, signature: SECRET }] }
    expect(readBack({ ...modelCall(), answer: { status: 200, headers: {}, body } })).toMatchObject({
      answer: { body: { content: [{ thinking: '[redacted]', signature: SECRET }] } },
    })
  })
})

test.each([
  ['', 1, 'is no {"v":1,"kind":"meta",…}, so this is not a cassette.'],
  ['{"kind":"action","name":"a"}', 1, 'is no {"v":1,"kind":"meta",…}, so this is not a cassette.'],
  ['{"v":2,"kind":"meta"}', 1, 'has version 2; this Playhead reads version 1. Update it.'],
  ['{"v":1,"kind":"meta"}\n<<<<<<< HEAD', 2, 'is not JSON.'],
  ['{"v":1,"kind":"meta"}\n\n{"kind":"actions"}', 3, 'is no message, model call or action.'],
  ['{"v":1,"kind":"meta"}\n{"kind":"action"}', 2, 'is an action without a name.'],
  ['{"v":1,"kind":"meta"}\n{"kind":"message","id":1}', 2, 'is a message without an id, a role or parts.'],
  [
    '{"v":1,"kind":"meta"}\n{"kind":"model","asked":{"messages":[7]},"answer":{}}',
    2,
    'refers to message 7, which is not above it.',
  ],
  ['{"v":1,"kind":"meta"}\n{"kind":"model","answer":{}}', 2, 'is a model call without a question.'],
  [
    '{"v":1,"kind":"meta"}\n{"kind":"model","asked":{"messages":[]}}',
    2,
    'is a model call without an answer.',
  ],
])('a line that can’t be read is named: %s', (text, line, sentence) => {
  expect(parseCassette(text).problems).toEqual([{ line, sentence }])
  expect(() => readCassette(text)).toThrow(`Line ${line} of the cassette ${sentence}`)
})

function textOf(file: string): string {
  return golden.find((known) => known.file === file)!.text
}

function modelCall(): Extract<CassetteEntry, { kind: 'model' }> {
  return {
    kind: 'model',
    api: 'openai-chat',
    path: '/v1/chat/completions',
    asked: { messages: [] },
    answer: { status: 200, headers: {}, body: {} },
  }
}

function chunkOf(delta: object, atMs: number, finish: string | null = null): [number, string] {
  const choices = [{ index: 0, delta, finish_reason: finish }]
  return [atMs, `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices })}\n\n`]
}

function write(entry: CassetteEntry, redactor = createRedactor()): string {
  const cassette: Cassette = { meta: { ...meta, sessions: [] }, entries: [entry] }
  return writeCassette(cassette, redactor)
}

function readBack(entry: CassetteEntry, redactor = createRedactor()): CassetteEntry {
  return readCassette(write(entry, redactor)).entries[0]!
}

type Responded = Extract<TapedResponse, { kind: 'response' }>

function respond(entry: ModelEntry, api: ModelApi, isStream: boolean): Responded {
  const body = { stream_options: { include_usage: true } }
  const url = new URL('https://model.example/v1/x')
  return respondFromEntry(entry, api, { url, body, isStream }) as Responded
}

/** The words of an answer, in the form of one API. */
function saidBy(entry: ModelEntry, api: ModelApi, isStream: boolean): unknown {
  const { chunks } = respond(entry, api, isStream)
  const body = isStream
    ? assembleEvents(
        chunks.map((text) => [0, text]),
        'openai-chat',
      )
    : (JSON.parse(chunks.join('')) as object)
  const { messages, finishReasons, usage } = api.readResponse({ ...body })
  return { messages, finishReasons, usage }
}
