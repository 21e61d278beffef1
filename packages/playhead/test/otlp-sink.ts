import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'

/** One span as it arrived, its attributes as plain values. */
export type SunkSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  flags?: number
  isEnded: boolean
  attributes: Record<string, unknown>
}

export type SunkRequest = { headers: IncomingMessage['headers']; spans: SunkSpan[]; atMs: number }

/** How the sink answers: in full, or in one of the ways that servers fail. */
export type Behaviour =
  | 'accept'
  | 'never answer'
  | 'cut while receiving'
  | 'cut while answering'
  | { status: number; body?: unknown; headers?: Record<string, string>; afterMs?: number }

export type OtlpSink = {
  url: string
  /** What was accepted. */
  requests: SunkRequest[]
  /** How often it was asked, whatever came of it. */
  readonly askedCount: number
  behaviour: Behaviour
  spans(): SunkSpan[]
  names(): string[]
  stop(): Promise<void>
}

/** A server that takes OTLP and misbehaves when it is told to. */
export async function startOtlpSink(port = 0): Promise<OtlpSink> {
  const requests: SunkRequest[] = []
  let askedCount = 0
  const server = createServer((request, response) => {
    askedCount += 1
    answer(request, response).catch(() => response.destroy())
  })
  const sink: OtlpSink = {
    url: '',
    requests,
    get askedCount() {
      return askedCount
    },
    behaviour: 'accept',
    spans: () => requests.flatMap(({ spans }) => spans),
    names: () => sink.spans().map(({ name }) => name),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { behaviour } = sink
    if (behaviour === 'never answer') return void request.resume()
    if (behaviour === 'cut while receiving') return void request.once('data', () => request.socket.destroy())
    const body = await buffer(request)
    if (behaviour === 'cut while answering') {
      response.writeHead(200, { 'content-length': '1000' })
      response.write('{"partial')
      return void setTimeout(() => response.destroy(), 5)
    }
    if (typeof behaviour === 'object') {
      const { status, headers = {}, body: text = {}, afterMs = 0 } = behaviour
      return void setTimeout(() => response.writeHead(status, headers).end(JSON.stringify(text)), afterMs)
    }
    const text = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
    requests.push({
      headers: request.headers,
      spans: readSpans(JSON.parse(text.toString())),
      atMs: Date.now(),
    })
    response.setHeader('content-type', 'application/json').end('{}')
  }
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  sink.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return sink
}

type KeyValue = { key: string; value: Record<string, unknown> }
type Payload = {
  resourceSpans: { scopeSpans: { spans: (Record<string, string> & { attributes: KeyValue[] })[] }[] }[]
}

function readSpans(payload: unknown): SunkSpan[] {
  return (payload as Payload).resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans)
    .map(({ attributes, endTimeUnixNano, traceId, spanId, parentSpanId, name, flags }) => ({
      traceId: traceId!,
      spanId: spanId!,
      ...(parentSpanId !== undefined && { parentSpanId }),
      ...(flags !== undefined && { flags: Number(flags) }),
      name: name!,
      isEnded: endTimeUnixNano !== undefined,
      attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
    }))
}
