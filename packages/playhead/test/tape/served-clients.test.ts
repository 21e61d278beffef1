import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import net from 'node:net'
import { json, text as readText } from 'node:stream/consumers'
import Anthropic from '@anthropic-ai/sdk'
import type { Session } from '@playhead/model'
import axios from 'axios'
import OpenAI from 'openai'
import * as undici8 from 'undici'
import * as undici6 from 'undici-6'
import * as undici7 from 'undici-7'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  setTape,
  type ActiveTape,
  type ServedResponse,
  type TapeRequest,
} from '../../src/record/session/active-tape.ts'
import { playTape } from '../../src/tape/play-tape.ts'
import { createRunTape } from '../../src/tape/run-tape.ts'
import { startRecorder, type Recorder } from '../clients/recorder.ts'
import { tornText } from '../clients/scene.ts'

/** No such host exists, so every answer is from the tape. */
const origin = 'https://model.invalid'
const url = `${origin}/v1/chat/completions`
const question = { model: 'gpt-4o', messages: [{ role: 'user' as const, content: 'Größe? 🏔️' }] }
const init = {
  method: 'POST' as const,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(question),
}

const whole = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'gpt-4o',
  choices: [{ index: 0, message: { role: 'assistant', content: tornText }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 9, total_tokens: 19 },
}

const events = [
  { choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] },
  ...Array.from(tornText, (content) => ({ choices: [{ index: 0, delta: { content } }] })),
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
]
const sse = `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`

/** Torn every 7 bytes, so that characters are split. */
function tear(text: string): Uint8Array[] {
  const bytes = Buffer.from(text)
  return Array.from({ length: Math.ceil(bytes.length / 7) }, (_, index) =>
    bytes.subarray(index * 7, index * 7 + 7),
  )
}

function taped(type: string, chunks: (string | Uint8Array)[]): ServedResponse {
  return { kind: 'response', status: 200, headers: { 'content-type': type }, chunks }
}

let asked: TapeRequest[]
let recorder: Recorder
let stop: () => void

function play(respond: (request: TapeRequest) => ServedResponse): void {
  const tape: ActiveTape = {
    isStrict: true,
    respond: (request) => {
      asked.push(request)
      return respond(request)
    },
    act: () => ({ kind: 'run' }),
  }
  setTape(() => tape)
  const playing = playTape(tape)
  stop = () => playing.stop()
}

function answerModel({ body }: TapeRequest): ServedResponse {
  const { stream } = JSON.parse(Buffer.from(body).toString()) as { stream?: boolean }
  return stream === true
    ? taped('text/event-stream', tear(sse))
    : taped('application/json', [JSON.stringify(whole)])
}

const plainOrigin = 'http://model.invalid'
const captured = { request: http.request, secure: https.request }
const builtBefore = {
  openai: new OpenAI({ apiKey: 'none', baseURL: `${origin}/v1`, maxRetries: 0 }),
  axios: axios.create({ baseURL: `${origin}/v1` }),
  agent: new https.Agent({ keepAlive: true }),
}

beforeEach(() => {
  asked = []
  recorder = startRecorder()
  play(answerModel)
})

afterEach(() => {
  stop()
  setTape(undefined)
  recorder.uninstall()
})

function send(request: http.ClientRequest): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', resolve)
    request.on('error', reject)
    request.end(init.body)
  })
}

async function load<Module>(name: string): Promise<Module> {
  return (await import(name)) as Module
}

type Fetch = typeof fetch
const proxy = 'http://proxy.invalid:3128'
const versions = { 'undici 8': undici8, 'undici 7': undici7, 'undici 6': undici6 } as unknown as Record<
  string,
  typeof undici8
>

/** `recorded`: what capture sees. Undici 6 publishes no answers, and HTTP/2 publishes nothing. */
type Case = { ask: () => Promise<unknown>; recorded?: unknown[]; origin?: string }

const servedCall = [[tornText, 'tape']]

const cases: Record<string, Case> = {
  'global fetch': { ask: async () => (await fetch(url, init)).json() },
  openai: { ask: () => builtBefore.openai.chat.completions.create(question) },
  axios: { ask: async () => (await builtBefore.axios.post('/chat/completions', question)).data },
  'axios with its fetch adapter': {
    ask: async () => (await axios.post(url, question, { adapter: 'fetch' })).data,
  },
  'node:http captured before': {
    ask: async () => json(await send(captured.request(`${plainOrigin}/v1/chat/completions`, init))),
    origin: plainOrigin,
  },
  'node:https captured before': { ask: async () => json(await send(captured.secure(url, init))) },
  'a keep-alive agent': {
    ask: async () => json(await send(https.request(url, { ...init, agent: builtBefore.agent }))),
  },
  'agent: false': { ask: async () => json(await send(https.request(url, { ...init, agent: false }))) },
  'a createConnection of its own': {
    ask: async () => {
      const createConnection = () => net.connect({ host: 'model.invalid', port: 80 })
      return json(
        await send(http.request(`${plainOrigin}/v1/chat/completions`, { ...init, createConnection })),
      )
    },
    origin: plainOrigin,
  },
  'node-fetch': {
    ask: async () => {
      const { default: nodeFetch } = await load<{ default: Fetch }>('node-fetch')
      return (await nodeFetch(url, init)).json()
    },
  },
  gaxios: {
    ask: async () => {
      const { request } = await load<{ request: (options: object) => Promise<{ data: unknown }> }>('gaxios')
      return (await request({ url, method: 'POST', data: question })).data
    },
  },
  'https-proxy-agent': {
    ask: async () => {
      const { default: createAgent } = await load<{ default: (url: string) => http.Agent }>(
        'https-proxy-agent',
      )
      return json(await send(https.request(url, { ...init, agent: createAgent(proxy) })))
    },
  },
  'http2.connect': {
    ask: async () => {
      const session = http2.connect(origin)
      const headers = {
        ':path': '/v1/chat/completions',
        ':method': 'POST',
        'content-type': 'application/json',
      }
      const streams = [1, 2].map(() => session.request(headers).end(init.body))
      const [first, second] = await Promise.all(streams.map((stream) => json(stream)))
      expect(second).toEqual(first)
      asked.pop()
      session.close()
      return first
    },
    recorded: [],
  },
}

for (const [name, undici] of Object.entries(versions)) {
  const recorded = name === 'undici 6' ? [] : servedCall
  const dispatcher = () => new undici.Agent({ connections: 2 })
  cases[`${name} request with its own agent`] = {
    ask: async () => (await undici.request(url, { ...init, dispatcher: dispatcher() })).body.json(),
    recorded: name === 'undici 6' ? [[undefined, undefined]] : servedCall,
  }
  cases[`${name} fetch with its own agent`] = {
    ask: async () => (await undici.fetch(url, { ...init, dispatcher: dispatcher() })).json(),
    recorded,
  }
  cases[`${name} through a proxy`] = {
    ask: async () =>
      (await undici.request(url, { ...init, dispatcher: new undici.ProxyAgent(proxy) })).body.json(),
    recorded: name === 'undici 6' ? [[undefined, undefined]] : servedCall,
  }
  cases[`${name} as the fetch of openai`] = {
    ask: () =>
      new OpenAI({
        apiKey: 'none',
        baseURL: `${origin}/v1`,
        fetch: undici.fetch as never,
        fetchOptions: { dispatcher: dispatcher() } as never,
      }).chat.completions.create(question),
    recorded,
  }
}

describe('answered from the tape', () => {
  test.each(Object.entries(cases))(
    '%s',
    async (_name, { ask, recorded = servedCall, origin: from = origin }) => {
      const answer = await ask()
      expect(answer).toMatchObject(whole)
      expect(asked).toMatchObject([{ method: 'POST', url: new URL(`${from}/v1/chat/completions`) }])
      expect(asked[0]!.headers['content-type']).toMatch(/^application\/json/)
      expect(JSON.parse(Buffer.from(asked[0]!.body).toString())).toEqual(question)
      const calls = recorder
        .calls()
        .map(({ step, span }) => [step.outputPreview, span.attributes['playhead.step.source']])
      expect(calls).toEqual(recorded)
    },
  )
})

describe('streams', () => {
  const streamed = JSON.stringify({ ...question, stream: true })

  test.each(['undici 8', 'undici 7'])(
    'openai over %s with its own agent, torn within characters',
    async (name) => {
      const undici = versions[name]!
      const client = new OpenAI({
        apiKey: 'none',
        baseURL: `${origin}/v1`,
        fetch: undici.fetch as never,
        fetchOptions: { dispatcher: new undici.Agent() } as never,
      })
      const stream = client.chat.completions.stream(question)
      expect((await stream.finalChatCompletion()).choices[0]!.message.content).toBe(tornText)
      expect(recorder.call().step.outputPreview).toBe(tornText)
    },
  )

  test('axios reads a stream, and aborts one', async () => {
    const { data } = await axios.post<NodeJS.ReadableStream>(url, streamed, { responseType: 'stream' })
    expect(await readText(data)).toBe(sse)
    expect(recorder.call().step.outputPreview).toBe(tornText)
    const abort = new AbortController()
    const { data: second } = await axios.post<NodeJS.ReadableStream>(url, streamed, {
      responseType: 'stream',
      signal: abort.signal,
    })
    await expect(
      (async () => {
        for await (const _chunk of second) abort.abort()
      })(),
    ).rejects.toThrow('canceled')
  })

  test('what was aborted when it was recorded waits for the abort', async () => {
    stop()
    play(
      () =>
        ({ ...(taped('text/event-stream', ['data: {}\n\n']) as object), isAborted: true }) as ServedResponse,
    )
    const abort = new AbortController()
    const response = await send(https.request(url, { ...init, signal: abort.signal }))
    await expect(
      (async () => {
        for await (const _chunk of response) abort.abort()
      })(),
    ).rejects.toThrow('aborted')
  })

  test('20 MB in both directions', async () => {
    const large = { ...question, messages: [{ role: 'user', content: '🏔️ä'.repeat(2_500_000) }] }
    const body = JSON.stringify(large)
    stop()
    play(({ body: sent }) => taped('application/json', [sent]))
    const viaFetch = await (await fetch(url, { ...init, body })).text()
    recorder.uninstall()
    const viaHttp = await axios.post<string>(url, body, { responseType: 'text', maxBodyLength: Infinity })
    const agent = new undici8.Agent()
    const viaUndici = await (await undici8.request(url, { ...init, body, dispatcher: agent })).body.text()
    for (const received of [viaHttp.data, viaFetch, viaUndici]) expect(received === body).toBe(true)
  })
})

test('Anthropic over node:http and its own undici', async () => {
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-4-6',
    content: [{ type: 'text', text: tornText }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 3, output_tokens: 4 },
  }
  stop()
  play(() => taped('application/json', [JSON.stringify(message)]))
  const client = new Anthropic({
    apiKey: 'none',
    baseURL: origin,
    fetch: undici7.fetch as never,
    fetchOptions: { dispatcher: new undici7.Agent() } as never,
  })
  const answer = await client.messages.create({
    model: 'claude-opus-4-6',
    max_tokens: 10,
    messages: question.messages,
  })
  expect(answer).toMatchObject(message)
  expect(recorder.call().step.outputPreview).toBe(tornText)
})

test('AWS’s client of Bedrock is not recorded, and says so', async () => {
  const { reports } = recorder
  const session = http2.connect('https://bedrock-runtime.us-east-1.amazonaws.com')
  await readText(session.request({ ':path': '/model/nova/converse', ':method': 'POST' }).end('{}'))
  session.close()
  const expected = [expect.stringMatching(/^Calls of Amazon Bedrock's own client are not recorded/)]
  expect(reports).toEqual(expected)
  const parent = { session: { id: 'a' } as Session['session'], steps: [] }
  const tape = createRunTape({
    parent,
    tapes: [],
    lane: 'tape',
    onMiss: 'fail',
    allowWrites: [],
    agent: {},
    content: () => ({ content: true, redactText: (text) => text, maxValueBytes: 1e6 }),
  })
  void tape.respond({ ...asked[0]!, body: Buffer.from('{}') })
  expect(tape.misses.map(({ sentence }) => sentence)).toEqual(expected)
})

test('a recorded failure to connect has its code, whatever the client', async () => {
  stop()
  play(() => ({
    kind: 'connection-error',
    code: 'ECONNREFUSED',
    message: 'connect ECONNREFUSED 10.0.0.1:443',
  }))
  const expected = { code: 'ECONNREFUSED', message: 'connect ECONNREFUSED 10.0.0.1:443' }
  await expect(fetch(url, init)).rejects.toMatchObject({ cause: expected })
  await expect(axios.post(url, question)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  await expect(undici8.request(url, { ...init, dispatcher: new undici8.Agent() })).rejects.toMatchObject(
    expected,
  )
})
