import { Buffer } from 'node:buffer'
import { setImmediate, setTimeout } from 'node:timers'
import { toObject, type TapedResponse } from '@playhead/model'
import type { ActiveTape } from '../../record/session/active-tape.ts'
import type { DispatchOptions, Handler } from './observe-handler.ts'
import { requestUrl } from './request-parts.ts'

/** Answers a request of undici from the tape, as if it came from the network. Always accepts more requests. */
export function serveDispatch(tape: ActiveTape, options: DispatchOptions, handler: Handler): true {
  const exchange = new Exchange(handler)
  exchange.start()
  readBody(options.body, handler).then(
    (body) => exchange.answer(() => respond(tape, options, body)),
    (error: unknown) => exchange.fail(error),
  )
  return true
}

function respond(
  tape: ActiveTape,
  { method = 'GET', origin, path }: DispatchOptions,
  body: Uint8Array,
): TapedResponse {
  const url = requestUrl(origin, path)
  const response = url === undefined ? undefined : tape.respond({ method, url, body })
  return response ?? { kind: 'connection-error', code: 'ECONNREFUSED', message: 'Not on the tape.' }
}

async function readBody(body: unknown, handler: Handler): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of chunksOf(body)) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : Buffer.from(chunk as Uint8Array)
    chunks.push(bytes)
    handler.onBodySent?.(bytes)
  }
  handler.onRequestSent?.()
  return Buffer.concat(chunks)
}

function chunksOf(body: unknown): AsyncIterable<unknown> | Iterable<unknown> {
  if (body === undefined || body === null) return []
  if (typeof body === 'string' || body instanceof Uint8Array) return [body]
  if (body instanceof ArrayBuffer) return [new Uint8Array(body)]
  return body as AsyncIterable<unknown>
}

/** How long a stream that was aborted when it was recorded waits to be aborted again. */
const ABORT_WAIT_MS = 2_000

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

  answer(read: () => TapedResponse): void {
    if (this.#isOver) return
    try {
      const response = read()
      if (response.kind === 'connection-error')
        this.fail(Object.assign(new Error(response.message), { code: response.code }))
      else setImmediate(() => void this.#send(response).catch((error: unknown) => this.fail(error)))
    } catch (error) {
      this.fail(error)
    }
  }

  fail(error: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#wake?.()
    if (this.#isModern) this.#handler.onResponseError?.(this.#controller, error)
    else this.#handler.onError?.(error)
  }

  async #send(response: Extract<TapedResponse, { kind: 'response' }>): Promise<void> {
    if (this.#isOver) return
    this.#sendHead(response)
    for (const chunk of response.chunks) {
      await this.#whenReading()
      if (this.#isOver) return
      this.#sendChunk(Buffer.from(chunk))
    }
    if (response.isAborted === true) return this.#waitForAbort()
    await this.#whenReading()
    if (this.#isOver) return
    this.#isOver = true
    if (this.#isModern) this.#handler.onResponseEnd?.(this.#controller, {})
    else this.#handler.onComplete?.([])
  }

  #sendHead({ status, headers }: Extract<TapedResponse, { kind: 'response' }>): void {
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

  #waitForAbort(): void {
    const error = Object.assign(new Error('The recorded stream was aborted here.'), { code: 'ECONNRESET' })
    setTimeout(() => this.fail(error), ABORT_WAIT_MS).unref()
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
