import { Buffer } from 'node:buffer'
import {
  tapeOfRequest,
  type ActiveTape,
  type ResponseTap,
  type ServedResponse,
} from '../../record/session/active-tape.ts'
import { onNetwork } from '../../record/session/own-connection.ts'
import { toHeaders } from './request-parts.ts'
import { connectionError, readBody, safeTap, servedHeaders } from './serve-response.ts'

type Fetch = typeof globalThis.fetch

const wrapped = new WeakSet<Fetch>()

/**
 * Makes a client whose `fetch` is its own ask the tape while one is active, because such a transport may not use HTTP.
 * `onAnswer` hears whether the answer is from the tape.
 */
export function wrapTransport(client: object, onAnswer: (source: string) => void): void {
  const holder = client as { fetch?: Fetch }
  const { fetch: transport } = holder
  if (typeof transport !== 'function' || transport === globalThis.fetch || wrapped.has(transport)) return
  const asking: Fetch = async (input, init) => {
    const tape = tapeOfRequest()
    if (tape === undefined) return transport(input, init)
    return ask(tape, { input, init, transport, onAnswer })
  }
  wrapped.add(asking)
  holder.fetch = asking
}

type Asked = {
  input: Parameters<Fetch>[0]
  init: RequestInit | undefined
  transport: Fetch
  onAnswer: (source: string) => void
}

async function ask(tape: ActiveTape, { input, init = {}, transport, onAnswer }: Asked): Promise<Response> {
  const request = input instanceof Request ? input : undefined
  const url = new URL(input instanceof Request ? input.url : input)
  const body = await readBody(init.body ?? (await request?.clone().arrayBuffer()))
  const answer = await tape.respond({
    method: init.method ?? request?.method ?? 'GET',
    url,
    headers: toHeaders(init.headers ?? request?.headers),
    body: body ?? new Uint8Array(),
  })
  init.signal?.throwIfAborted()
  if (answer.kind !== 'live') {
    onAnswer(answer.kind === 'response' ? (answer.headers['x-playhead-source'] ?? 'tape') : 'tape')
    return toResponse(answer, url, init.signal)
  }
  onAnswer('live')
  const target = answer.url ?? input
  const sent = answer.body === undefined ? init : { ...init, ...withBody(init, answer.body) }
  const response = await onNetwork(() => transport(target, sent))
  return answer.tap === undefined ? response : tapResponse(response, answer.tap)
}

function withBody({ headers }: RequestInit, body: Uint8Array): RequestInit {
  const { 'content-length': _length, ...others } = toHeaders(headers)
  return { body: Buffer.from(body), headers: others }
}

function toResponse(answer: ServedResponse, url: URL, signal: AbortSignal | null | undefined): Response {
  if (answer.kind === 'connection-error')
    throw new TypeError('fetch failed', { cause: connectionError(answer) })
  const { status, headers, chunks, isAborted = false, failure } = answer
  const waiting = chunks.values()
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) =>
      signal?.addEventListener('abort', () => controller.error(signal.reason), { once: true }),
    pull(controller) {
      const { done, value } = waiting.next()
      if (done !== true) controller.enqueue(Buffer.from(value))
      else if (failure !== undefined)
        controller.error(new TypeError('terminated', { cause: connectionError(failure) }))
      else if (!isAborted) controller.close()
    },
  })
  const hasBody = status !== 204 && status !== 304
  const response = new Response(hasBody ? stream : null, { status, headers: servedHeaders(headers) })
  return Object.defineProperty(response, 'url', { value: url.href })
}

function tapResponse(response: Response, given: ResponseTap): Response {
  const tap = safeTap(given)
  tap.onHead(response.status, toHeaders(response.headers))
  if (response.body === null) {
    tap.onEnd()
    return response
  }
  const watch = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      tap.onChunk(Uint8Array.from(chunk))
      controller.enqueue(chunk)
    },
    flush: () => tap.onEnd(),
  })
  const { status, statusText, headers } = response
  return new Response(response.body.pipeThrough(watch), { status, statusText, headers })
}
