import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { decodeOtlp, spansOf, type OtlpPayload } from './decode-otlp.ts'

/** One received span, its attributes as plain values. */
export type ReceivedSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  flags?: number
  isEnded: boolean
  attributes: Record<string, unknown>
}

export type ReceivedRequest = { headers: IncomingMessage['headers']; spans: ReceivedSpan[] }

/** How the sink responds: normally, or in one of the ways that servers fail. */
export type Behaviour =
  | 'accept'
  | 'never respond'
  | 'close while receiving'
  | 'close while responding'
  | { status: number; body?: unknown; headers?: Record<string, string>; afterMs?: number }
  | { acceptAfterMs: number }

export type OtlpSink = {
  url: string
  /** The accepted requests. */
  requests: ReceivedRequest[]
  /** All requests, accepted or not. */
  readonly requestCount: number
  behaviour: Behaviour
  /** How it responds to the next requests, one each; then as `behaviour` says. */
  next: Behaviour[]
  spans(): ReceivedSpan[]
  names(): string[]
  stop(): Promise<void>
}

/** A server that accepts OTLP, and fails when it is told to. */
export async function startOtlpSink(port = 0): Promise<OtlpSink> {
  const requests: ReceivedRequest[] = []
  let requestCount = 0
  const server = createServer((request, response) => {
    requestCount += 1
    respond(request, response).catch(() => response.destroy())
  })
  const sink: OtlpSink = {
    url: '',
    requests,
    get requestCount() {
      return requestCount
    },
    behaviour: 'accept',
    next: [],
    spans: () => requests.flatMap(({ spans }) => spans),
    names: () => sink.spans().map(({ name }) => name),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const behaviour = sink.next.shift() ?? sink.behaviour
    if (behaviour === 'never respond') return void request.resume()
    if (behaviour === 'close while receiving')
      return void request.once('data', () => request.socket.destroy())
    const body = await buffer(request)
    if (behaviour === 'close while responding') {
      response.writeHead(200, { 'content-length': '1000' })
      return void response.write('{"partial', () => response.destroy())
    }
    if (typeof behaviour === 'object' && 'acceptAfterMs' in behaviour) await sleep(behaviour.acceptAfterMs)
    else if (typeof behaviour === 'object') {
      const { status, headers = {}, body: text = {}, afterMs } = behaviour
      if (afterMs !== undefined) await sleep(afterMs)
      return void response
        .writeHead(status, headers)
        .end(typeof text === 'string' ? text : JSON.stringify(text))
    }
    const bytes = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
    const isJson = request.headers['content-type'] === 'application/json'
    const payload = isJson ? (JSON.parse(bytes.toString()) as OtlpPayload) : decodeOtlp(bytes)
    requests.push({ headers: request.headers, spans: readSpans(payload) })
    response.setHeader('content-type', 'application/json').end('{}')
  }
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  sink.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return sink
}

function readSpans(payload: OtlpPayload): ReceivedSpan[] {
  return spansOf(payload).map(
    ({ attributes = [], endTimeUnixNano, traceId, spanId, parentSpanId, name, flags }) => ({
      traceId,
      spanId,
      ...(parentSpanId !== undefined && { parentSpanId }),
      ...(flags !== undefined && { flags }),
      name,
      isEnded: endTimeUnixNano !== undefined,
      attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
    }),
  )
}
