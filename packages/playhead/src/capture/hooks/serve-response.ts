import { AsyncLocalStorage } from 'node:async_hooks'
import { Buffer } from 'node:buffer'
import { clearTimeout, setImmediate, setTimeout } from 'node:timers'
import { toObject, type ConnectionFailure } from '@playhead/model'
import type { ActiveTape, ResponseTap, ServedResponse, TapeAnswer } from '../../record/session/active-tape.ts'
import { onNetwork } from '../../record/session/own-connection.ts'
import { isLive, observeHandler, type DispatchOptions, type Handler } from './observe-handler.ts'
import { headerPairs, requestUrl, toHeaders } from './request-parts.ts'

type LiveAnswer = Extract<TapeAnswer, { kind: 'live' }>

export type DispatchRequest = { options: DispatchOptions; handler: Handler }

export type DispatchHooks = {
  /** The request with a handler that records it; undefined if it is not a model call. */
  observe(request: DispatchRequest): DispatchRequest | undefined
  /** Records it and sends it over the network. */
  send(request: DispatchRequest): void
}

/**
 * Asks the tape about a request of undici, then answers it as if the answer came from the network, or lets it through.
 * Always accepts more requests.
 */
export function serveDispatch(tape: ActiveTape, request: DispatchRequest, hooks: DispatchHooks): true {
  askTape(tape, request, hooks).catch((error: unknown) => {
    const exchange = new Exchange(request.handler)
    exchange.start()
    exchange.fail(error)
  })
  return true
}

/** The handler hears of the request only when it is answered or sent, as with undici's own queue. */
async function askTape(tape: ActiveTape, request: DispatchRequest, hooks: DispatchHooks): Promise<void> {
  const { options, handler } = request
  const { method = 'GET', origin, path } = options
  const url = requestUrl(origin, path)
  if (url === undefined) return hooks.send(request)
  const body = await readBody(options.body)
  const headers = toHeaders(options.headers)
  const answer = await tape.respond({ method, url, headers, body: body ?? new Uint8Array() })
  const hasBytes = body !== undefined && options.body !== undefined && options.body !== null
  const read = hasBytes ? { ...options, body } : options
  if (answer.kind !== 'live') {
    const observed = hooks.observe({ options: read, handler })
    return new Exchange(observed?.handler ?? handler).serve(answer, hasBytes ? body : undefined)
  }
  const sent = liveOptions(read, answer)
  const inCaller = keepContext(handler)
  const live =
    answer.tap === undefined
      ? { options: sent, handler: inCaller }
      : { options: withoutEncoding(sent), handler: tapHandler(inCaller, answer.tap) }
  onNetwork(() => hooks.send(live))
}

/** What the host does when the answer comes is not part of the live request. */
function keepContext(handler: Handler): Handler {
  const inCaller = AsyncLocalStorage.snapshot()
  return new Proxy(handler, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => inCaller(() => Reflect.apply(value, target, args) as unknown)
    },
  })
}

/** Undefined for forms, which are more than their bytes. */
export async function readBody(body: unknown): Promise<Uint8Array | undefined> {
  if (body === undefined || body === null) return new Uint8Array()
  if (typeof body === 'string') return Buffer.from(body)
  if (body instanceof Uint8Array) return body
  if (body instanceof ArrayBuffer) return new Uint8Array(body)
  if (Symbol.asyncIterator in Object(body)) {
    const chunks: Uint8Array[] = []
    for await (const chunk of body as AsyncIterable<string | Uint8Array>) chunks.push(Buffer.from(chunk))
    return Buffer.concat(chunks)
  }
  return body instanceof Blob ? new Uint8Array(await body.arrayBuffer()) : undefined
}

function liveOptions(options: DispatchOptions, { body, url }: LiveAnswer): DispatchOptions {
  return {
    ...options,
    [isLive]: true,
    ...(url !== undefined && { path: `${url.pathname}${url.search}` }),
    ...(body !== undefined && {
      body,
      headers: withHeader(options.headers, 'content-length', String(body.byteLength)),
    }),
  }
}

/** A tap wants to read what the server says. */
function withoutEncoding(options: DispatchOptions): DispatchOptions {
  return { ...options, headers: withHeader(options.headers, 'accept-encoding', 'identity') }
}

function withHeader(headers: unknown, name: string, value: string): string[] {
  const others = headerPairs(headers).filter(([key]) => key.toLowerCase() !== name)
  return [...others, [name, value] as const].flat()
}

function tapHandler(handler: Handler, given: ResponseTap): Handler {
  const tap = safeTap(given)
  const call = {
    addRequestChunk: () => {},
    requestEnded: () => {},
    responseStarted: (status: number, _header: unknown, headers: unknown) => {
      if (status >= 200) tap.onHead(status, toHeaders(headers))
    },
    addResponseChunk: (chunk: Uint8Array) => tap.onChunk(Uint8Array.from(chunk)),
    responseEnded: () => tap.onEnd(),
    failed: (error: unknown) => tap.onEnd(error),
  }
  return observeHandler(handler, { call, isBodyObserved: true, onEnd: () => {} }) ?? handler
}

/** The tape reports its own faults; the host must not notice. It ends once. */
export function safeTap(tap: ResponseTap | undefined): ResponseTap {
  let isOver = false
  const safely = (run: () => void) => {
    try {
      if (!isOver) run()
    } catch {
      isOver = true
    }
  }
  return {
    onHead: (status, headers) => safely(() => tap?.onHead(status, headers)),
    onChunk: (bytes) => safely(() => tap?.onChunk(bytes)),
    onEnd: (error) =>
      safely(() => {
        tap?.onEnd(error)
        isOver = true
      }),
  }
}

/** Headers of a recorded response that describe how its bytes were sent. */
const transferHeaders = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'keep-alive',
  'transfer-encoding',
])

export function servedHeaders(headers: Record<string, string>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => !transferHeaders.has(name.toLowerCase()))
  return { 'x-playhead-source': 'tape', ...Object.fromEntries(kept) }
}

/** How long a stream that was aborted when it was recorded waits to be aborted again. */
export const ABORT_WAIT_MS = 2_000

/** What a client is told that reads on where it once stopped. */
const NEVER_ABORTED: ConnectionFailure = {
  code: 'ECONNRESET',
  message: 'The recorded stream was aborted here.',
}

export function connectionError({ code, message }: ConnectionFailure): Error {
  return Object.assign(new Error(message), { code })
}

/** One exchange with a handler of undici, in the old style or the new one. */
class Exchange {
  readonly #handler: Handler
  readonly #controller: Controller
  readonly #isModern: boolean
  #isOver = false
  #wake: (() => void) | undefined

  constructor(handler: Handler) {
    this.#handler = handler
    this.#isModern = typeof handler.onRequestStart === 'function'
    this.#controller = new Controller(
      (reason) => this.fail(reason),
      () => this.#wake?.(),
    )
  }

  start(): void {
    if (this.#isModern) this.#handler.onRequestStart?.(this.#controller, {})
    else this.#handler.onConnect?.((reason) => this.#controller.abort(reason), null)
  }

  serve(response: ServedResponse, body: Uint8Array | undefined): void {
    this.start()
    if (this.#isOver) return
    if (body !== undefined) this.#handler.onBodySent?.(body)
    this.#handler.onRequestSent?.()
    if (response.kind === 'connection-error') this.fail(connectionError(response))
    else setImmediate(() => void this.#send(response).catch((error: unknown) => this.fail(error)))
  }

  fail(error: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#wake?.()
    if (this.#isModern) this.#handler.onResponseError?.(this.#controller, error)
    else this.#handler.onError?.(error)
  }

  async #send(response: Extract<ServedResponse, { kind: 'response' }>): Promise<void> {
    if (this.#isOver) return
    this.#sendHead(response)
    // A small body arrives with its head: clients that retry drop it unread, and capture still saw the error.
    const isWhole = response.chunks.length === 1
    for (const chunk of response.chunks) {
      if (!isWhole || this.#controller.paused) await this.#whenReading()
      if (this.#isOver) return
      this.#sendChunk(Buffer.from(chunk))
    }
    const { isAborted, failure } = response
    if (isAborted === true && failure === undefined) return this.#waitForAbort()
    await this.#whenReading()
    if (failure !== undefined) return this.fail(connectionError(failure))
    if (this.#isOver) return
    this.#isOver = true
    if (this.#isModern) this.#handler.onResponseEnd?.(this.#controller, {})
    else this.#handler.onComplete?.([])
  }

  #sendHead({ status, headers: taped }: Extract<ServedResponse, { kind: 'response' }>): void {
    const headers = servedHeaders(taped)
    if (this.#isModern) {
      this.#handler.onResponseStart?.(this.#controller, status, headers, '')
      return
    }
    const raw = Object.entries(headers).flatMap(([name, value]) => [Buffer.from(name), Buffer.from(value)])
    const resume = () => this.#controller.resume()
    if (this.#handler.onHeaders?.(status, raw, resume, '') === false) this.#controller.pause()
  }

  #sendChunk(chunk: Uint8Array): void {
    if (this.#isModern) this.#handler.onResponseData?.(this.#controller, chunk)
    else if (this.#handler.onData?.(chunk) === false) this.#controller.pause()
  }

  /** A host that reads in pieces gets them one by one. */
  async #whenReading(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve))
    while (this.#controller.paused && !this.#isOver)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
  }

  /** Like an open connection, it keeps the process alive. */
  #waitForAbort(): void {
    const timer = setTimeout(() => this.fail(connectionError(NEVER_ABORTED)), ABORT_WAIT_MS)
    this.#wake = () => clearTimeout(timer)
  }
}

/** What undici gives to handlers of the new style. */
class Controller {
  paused = false
  aborted = false
  reason: unknown = null
  readonly rawHeaders = null
  readonly rawTrailers = null
  readonly #onAbort: (reason: unknown) => void
  readonly #onResume: () => void

  constructor(onAbort: (reason: unknown) => void, onResume: () => void) {
    this.#onAbort = onAbort
    this.#onResume = onResume
  }

  pause(): void {
    this.paused = true
  }

  resume(): void {
    this.paused = false
    this.#onResume()
  }

  abort(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason =
      reason ??
      Object.assign(new Error('Request aborted'), { name: 'AbortError', code: toObject(reason).code })
    this.#onAbort(this.reason)
  }
}
