import { once } from 'node:events'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import net, { type AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import axios from 'axios'
import * as undici8 from 'undici'
import * as undici7 from 'undici-7'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  setTape,
  type ActiveTape,
  type TapeAnswer,
  type TapeRequest,
} from '../../src/record/session/active-tape.ts'
import { playTape } from '../../src/tape/play-tape.ts'
import { startRecorder, type Recorder } from '../clients/recorder.ts'
import { tornText } from '../clients/scene.ts'

const question = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Recorded' }] }
const edited = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Edited: größer' }] }
const init = {
  method: 'POST' as const,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(question),
}
const whole = {
  id: 'chatcmpl-1',
  model: 'gpt-4o',
  choices: [{ index: 0, message: { role: 'assistant', content: tornText }, finish_reason: 'stop' }],
}

/** A key instead of a certificate. */
const psk = { psk: Buffer.from('d731ef57be09e5204f0b205b60627028', 'hex'), identity: 'test' }
const cipher = { ciphers: 'PSK+HIGH', minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const
const clientTls = { ...cipher, pskCallback: () => psk, checkServerIdentity: () => undefined }

type Model = http.Server | https.Server | http2.Http2SecureServer

const received: { path: string | undefined; body: unknown; via: string }[] = []
const servers: (net.Server | Model)[] = []
const ports = { http: 0, https: 0, http2: 0, proxy: 0, echo: 0 }
const tunnels: string[] = []

function answerAs(via: string) {
  return async (request: IncomingMessage, response: ServerResponse) => {
    const body = (await json(request)) as { stream?: boolean }
    received.push({ path: request.url, body, via })
    response.setHeader('content-type', 'application/json')
    response.setHeader('set-cookie', ['a=1', 'b=2'])
    response.end(JSON.stringify(whole))
  }
}

async function listen(name: keyof typeof ports, server: net.Server | Model): Promise<void> {
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  ports[name] = (server.address() as AddressInfo).port
}

beforeAll(async () => {
  await listen(
    'http',
    http.createServer((request, response) => void answerAs('http')(request, response)),
  )
  const secure = { ...cipher, pskCallback: () => psk.psk }
  await listen(
    'https',
    https.createServer(secure, (request, response) => void answerAs('https')(request, response)),
  )
  await listen(
    'http2',
    http2.createServer((request, response) => {
      void answerAs('http2')(request as never, response as never)
    }),
  )
  const proxy = http.createServer().on('connect', (request, socket) => {
    tunnels.push(request.url!)
    const target = net.connect(ports.https, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      target.pipe(socket).pipe(target)
    })
    socket.on('error', () => target.destroy())
  })
  await listen('proxy', proxy)
  // Speaks first, like a database.
  const echo = net.createServer((socket) => {
    socket.on('error', () => {})
    socket.write('ready\n')
    socket.on('data', (chunk) => socket.write(`you said ${chunk.toString()}`))
  })
  await listen('echo', echo)
})

afterAll(() => {
  for (const server of servers) server.close()
})

let recorder: Recorder
let tapped: string[]
let asked: TapeRequest[]
let answer: (request: TapeRequest) => TapeAnswer
let stop: () => void

beforeEach(() => {
  received.length = 0
  tunnels.length = 0
  tapped = []
  asked = []
  recorder = startRecorder()
  const tap = {
    onHead: (status: number, headers: Record<string, string>) =>
      tapped.push(`${status} ${headers['content-type']}`),
    onChunk: (bytes: Uint8Array) => tapped.push(Buffer.from(bytes).toString()),
    onEnd: (error?: unknown) => tapped.push(error instanceof Error ? error.message : 'end'),
  }
  answer = ({ url }) => ({
    kind: 'live',
    tap,
    body: Buffer.from(JSON.stringify(edited)),
    url: new URL('/edited/v1/chat/completions', url),
  })
  const tape: ActiveTape = {
    isStrict: false,
    respond: (request) => {
      asked.push(request)
      return answer(request)
    },
    act: () => ({ kind: 'run' }),
  }
  setTape(() => tape)
  const playing = playTape(tape)
  stop = () => playing.stop()
})

afterEach(() => {
  stop()
  setTape(undefined)
  recorder.uninstall()
})

const path = '/v1/chat/completions'

function send(request: http.ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', resolve).on('error', reject)
    request.end(init.body)
  })
}

type Case = { via: string; ask: () => Promise<unknown>; isRecorded?: boolean }

const cases: Record<string, Case> = {
  'node:http': {
    via: 'http',
    ask: async () => {
      const response = await send(http.request(`http://127.0.0.1:${ports.http}${path}`, init))
      expect(response.headers['set-cookie']).toEqual(['a=1', 'b=2'])
      return json(response)
    },
  },
  axios: {
    via: 'http',
    ask: async () => (await axios.post(`http://127.0.0.1:${ports.http}${path}`, question)).data,
  },
  'node:https with its own options': {
    via: 'https',
    ask: async () =>
      json(await send(https.request(`https://127.0.0.1:${ports.https}${path}`, { ...init, ...clientTls }))),
  },
  'undici 8 with its own agent': {
    via: 'http',
    ask: async () => {
      const dispatcher = new undici8.Agent()
      const url = `http://127.0.0.1:${ports.http}${path}`
      return (await undici8.request(url, { ...init, dispatcher })).body.json()
    },
  },
  'undici 7 with its own agent and TLS': {
    via: 'https',
    ask: async () => {
      const dispatcher = new undici7.Agent({ connect: clientTls })
      const url = `https://127.0.0.1:${ports.https}${path}`
      return (await undici7.request(url, { ...init, dispatcher })).body.json()
    },
  },
  'undici 7 through a proxy': {
    via: 'https',
    ask: async () => {
      const uri = `http://127.0.0.1:${ports.proxy}`
      const dispatcher = new undici7.ProxyAgent({ uri, requestTls: clientTls })
      const answered = await undici7.request(`https://model.invalid${path}`, { ...init, dispatcher })
      expect(tunnels).toEqual(['model.invalid:443'])
      return answered.body.json()
    },
  },
  'http2.connect': {
    via: 'http2',
    ask: async () => {
      const session = http2.connect(`http://127.0.0.1:${ports.http2}`)
      const stream = session.request({ ':path': path, ':method': 'POST', 'content-type': 'application/json' })
      try {
        return await json(stream.end(init.body))
      } finally {
        session.close()
      }
    },
    isRecorded: false,
  },
}

describe('what the tape lets through reaches the network', () => {
  test.each(Object.entries(cases))('%s', async (_name, { via, ask, isRecorded = true }) => {
    expect(await ask()).toEqual(whole)
    expect(received).toEqual([{ via, path: '/edited/v1/chat/completions', body: edited }])
    expect(asked).toHaveLength(1)
    expect(tapped[0]).toBe('200 application/json')
    expect(JSON.parse(tapped.slice(1, -1).join(''))).toEqual(whole)
    expect(tapped.at(-1)).toBe('end')
    const calls = recorder.calls().map(({ content, step, span }) => ({
      said: content.messages?.[0]?.parts,
      output: step.outputPreview,
      source: span.attributes['playhead.step.source'],
    }))
    const said = [{ type: 'text', text: edited.messages[0]!.content }]
    expect(calls).toEqual(isRecorded ? [{ said, output: tornText, source: 'live' }] : [])
  })

  test('a refused connection is the host’s error, and the tap’s', async () => {
    const { port } = await closedPort()
    await expect(axios.post(`http://127.0.0.1:${port}${path}`, question)).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    })
    const dispatcher = new undici8.Agent()
    await expect(
      undici8.request(`http://127.0.0.1:${port}${path}`, { ...init, dispatcher }),
    ).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    expect(tapped).toEqual([
      `connect ECONNREFUSED 127.0.0.1:${port}`,
      `connect ECONNREFUSED 127.0.0.1:${port}`,
    ])
  })

  test('a request that is made while a live response arrives asks the tape as well', async () => {
    const url = `http://127.0.0.1:${ports.http}${path}`
    const dispatcher = new undici8.Agent()
    const inListener = (body: NodeJS.ReadableStream) =>
      new Promise<unknown>((resolve, reject) => {
        body.once('data', () => {
          const second = undici8.request(url, { ...init, dispatcher: new undici8.Agent() })
          second.then(async (answered) => resolve(await answered.body.json())).catch(reject)
        })
      })
    const { body } = await undici8.request(url, { ...init, dispatcher })
    expect(await inListener(body)).toEqual(whole)
    expect(await inListener(await send(http.request(url, init)))).toEqual(whole)
    const fetched = await undici8.request(url, init)
    expect(await inListener(fetched.body)).toEqual(whole)
    expect(asked).toHaveLength(6)
  })

  test('other protocols are connected through', async () => {
    const socket = net.connect(ports.echo, '127.0.0.1')
    expect(String(await once(socket, 'data'))).toBe('ready\n')
    socket.write('hello')
    expect(String(await once(socket, 'data'))).toBe('you said hello')
    socket.destroy()
    expect(asked).toEqual([])
  })

  test('a stream is aborted at both ends', async () => {
    const { promise: closed, resolve: onClose } = Promise.withResolvers<void>()
    const endless = http.createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {}\n\n')
      response.on('close', onClose)
    })
    await once(endless.listen(0, '127.0.0.1'), 'listening')
    const { port } = endless.address() as AddressInfo
    const abort = new AbortController()
    const { data } = await axios.post<NodeJS.ReadableStream>(`http://127.0.0.1:${port}${path}`, question, {
      responseType: 'stream',
      signal: abort.signal,
    })
    const reading = (async () => {
      for await (const _chunk of data) abort.abort()
    })()
    await expect(reading).rejects.toThrow('canceled')
    await closed
    endless.close()
  })
})

async function closedPort(): Promise<AddressInfo> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return address
}
