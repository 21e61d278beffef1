import { readHeaders } from './request-parts.ts'
import type { HeaderReader } from '../calls/call-span.ts'
import type { ObservedCall } from '../calls/observed-call.ts'

const legacyMethods = ['onConnect', 'onHeaders', 'onData', 'onComplete', 'onError'] as const

/** What a handler tells about its request. */
type CallObserver = Pick<
  ObservedCall,
  'addRequestChunk' | 'requestEnded' | 'addResponseChunk' | 'responseEnded' | 'failed'
> & { responseStarted(status: number, header: HeaderReader, headers: unknown): void }

export type Observing = {
  call: CallObserver
  /** True if the body is observed elsewhere: not every undici passes it to handlers. */
  isBodyObserved: boolean
  onEnd: () => void
}

/** Wraps the host's handler so that the call sees everything. Undefined for handlers that undici would reject. */
export function observeHandler(handler: Handler, observing: Observing): Handler | undefined {
  if (typeof handler.onRequestStart === 'function') return new Observer(handler, observing)
  const isLegacy = legacyMethods.every((name) => typeof handler[name] === 'function')
  return isLegacy ? new LegacyObserver(handler, observing) : undefined
}

class LegacyObserver implements LegacyHandler {
  readonly #handler: LegacyHandler
  readonly #call: CallObserver
  readonly #isBodyObserved: boolean
  readonly #onEnd: () => void
  #isAborted = false

  constructor(handler: LegacyHandler, { call, isBodyObserved, onEnd }: Observing) {
    this.#handler = handler
    this.#call = call
    this.#isBodyObserved = isBodyObserved
    this.#onEnd = onEnd
  }

  onConnect(abort: Abort, context?: unknown): unknown {
    return this.#handler.onConnect?.((reason) => {
      this.#isAborted = true
      return abort(reason)
    }, context)
  }

  onBodySent(chunk: unknown): unknown {
    if (!this.#isBodyObserved) this.#call.addRequestChunk(chunk)
    return this.#handler.onBodySent?.(chunk)
  }

  onRequestSent(): unknown {
    if (!this.#isBodyObserved) this.#call.requestEnded()
    return this.#handler.onRequestSent?.()
  }

  onResponseStarted(): unknown {
    return this.#handler.onResponseStarted?.()
  }

  onHeaders(status: number, rawHeaders: unknown, resume: () => void, statusText: string): unknown {
    this.#call.responseStarted(status, readHeaders(rawHeaders), rawHeaders)
    return this.#handler.onHeaders?.(status, rawHeaders, resume, statusText)
  }

  onData(chunk: Uint8Array): unknown {
    this.#call.addResponseChunk(chunk)
    return this.#handler.onData?.(chunk)
  }

  onComplete(trailers: unknown): unknown {
    this.#call.responseEnded()
    this.#onEnd()
    return this.#handler.onComplete?.(trailers)
  }

  onError(error: unknown): unknown {
    this.#call.failed(error, this.#isAborted || undefined)
    this.#onEnd()
    return this.#handler.onError?.(error)
  }

  onUpgrade(status: number, rawHeaders: unknown, socket: unknown): unknown {
    return this.#handler.onUpgrade?.(status, rawHeaders, socket)
  }
}

class Observer implements ModernHandler {
  readonly #handler: ModernHandler
  readonly #call: CallObserver
  readonly #isBodyObserved: boolean
  readonly #onEnd: () => void

  constructor(handler: ModernHandler, { call, isBodyObserved, onEnd }: Observing) {
    this.#handler = handler
    this.#call = call
    this.#isBodyObserved = isBodyObserved
    this.#onEnd = onEnd
  }

  onRequestStart(controller: Controller, context: unknown): unknown {
    return this.#handler.onRequestStart?.(controller, context)
  }

  onRequestUpgrade(controller: Controller, status: number, headers: unknown, socket: unknown): unknown {
    return this.#handler.onRequestUpgrade?.(controller, status, headers, socket)
  }

  onBodySent(chunk: unknown): unknown {
    if (!this.#isBodyObserved) this.#call.addRequestChunk(chunk)
    return this.#handler.onBodySent?.(chunk)
  }

  onRequestSent(): unknown {
    if (!this.#isBodyObserved) this.#call.requestEnded()
    return this.#handler.onRequestSent?.()
  }

  onResponseStarted(): unknown {
    return this.#handler.onResponseStarted?.()
  }

  onResponseStart(controller: Controller, status: number, headers: unknown, statusText: string): unknown {
    this.#call.responseStarted(status, readHeaders(headers), headers)
    return this.#handler.onResponseStart?.(controller, status, headers, statusText)
  }

  onResponseData(controller: Controller, chunk: Uint8Array): unknown {
    this.#call.addResponseChunk(chunk)
    return this.#handler.onResponseData?.(controller, chunk)
  }

  onResponseEnd(controller: Controller, trailers: unknown): unknown {
    this.#call.responseEnded()
    this.#onEnd()
    return this.#handler.onResponseEnd?.(controller, trailers)
  }

  onResponseError(controller: Controller, error: unknown): unknown {
    // Only the host aborts this controller.
    this.#call.failed(error, controller?.aborted === true || undefined)
    this.#onEnd()
    return this.#handler.onResponseError?.(controller, error)
  }
}

export const isLive = Symbol('playhead.is-live')

/** The part of undici's dispatch options that we read. */
export type DispatchOptions = {
  origin?: string | URL
  path?: string
  method?: string
  body?: unknown
  headers?: unknown
  /** True once the tape has let the request through: dispatchers may call each other. */
  [isLive]?: true
}

/** A handler of undici up to 6, which 7 still accepts and Node's own fetch still uses. */
type LegacyHandler = {
  onConnect?(abort: Abort, context?: unknown): unknown
  onResponseStarted?(): unknown
  onHeaders?(status: number, rawHeaders: unknown, resume: () => void, statusText: string): unknown
  onData?(chunk: Uint8Array): unknown
  onComplete?(trailers: unknown): unknown
  onError?(error: unknown): unknown
  onUpgrade?(status: number, rawHeaders: unknown, socket: unknown): unknown
  onBodySent?(chunk: unknown): unknown
  onRequestSent?(): unknown
}

/** A handler since undici 7. */
type ModernHandler = {
  onRequestStart?(controller: Controller, context: unknown): unknown
  onRequestUpgrade?(controller: Controller, status: number, headers: unknown, socket: unknown): unknown
  onResponseStarted?(): unknown
  onResponseStart?(controller: Controller, status: number, headers: unknown, statusText: string): unknown
  onResponseData?(controller: Controller, chunk: Uint8Array): unknown
  onResponseEnd?(controller: Controller, trailers: unknown): unknown
  onResponseError?(controller: Controller, error: unknown): unknown
  onBodySent?(chunk: unknown): unknown
  onRequestSent?(): unknown
}

type Abort = (reason?: unknown) => unknown

type Controller = { aborted?: boolean }

export type Handler = LegacyHandler & ModernHandler

export type Dispatch = (options: DispatchOptions, handler: Handler) => boolean

export type Dispatcher = { dispatch: Dispatch }
