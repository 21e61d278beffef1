import { readHeaders } from './request-parts.ts'
import type { ObservedCall } from '../calls/observed-call.ts'

const oldMethods = ['onConnect', 'onHeaders', 'onData', 'onComplete', 'onError'] as const

export type Observing = {
  call: ObservedCall
  /** True when the body is looked at elsewhere: not every undici tells handlers what it sends. */
  isBodySeen: boolean
  onOver: () => void
}

/** Tells a call what passes by on the way to the host's handler. Undefined for handlers that undici would refuse. */
export function observeHandler(handler: Handler, observing: Observing): Handler | undefined {
  if (typeof handler.onRequestStart === 'function') return new NewStyleObserver(handler, observing)
  const isOldStyle = oldMethods.every((name) => typeof handler[name] === 'function')
  return isOldStyle ? new OldStyleObserver(handler, observing) : undefined
}

class OldStyleObserver implements OldHandler {
  readonly #handler: OldHandler
  readonly #call: ObservedCall
  readonly #isBodySeen: boolean
  readonly #onOver: () => void
  #isGivenUp = false

  constructor(handler: OldHandler, { call, isBodySeen, onOver }: Observing) {
    this.#handler = handler
    this.#call = call
    this.#isBodySeen = isBodySeen
    this.#onOver = onOver
  }

  onConnect(abort: Abort, context?: unknown): unknown {
    return this.#handler.onConnect?.((reason) => {
      this.#isGivenUp = true
      return abort(reason)
    }, context)
  }

  onBodySent(chunk: unknown): unknown {
    if (!this.#isBodySeen) this.#call.sent(chunk)
    return this.#handler.onBodySent?.(chunk)
  }

  onRequestSent(): unknown {
    if (!this.#isBodySeen) this.#call.askedSoon()
    return this.#handler.onRequestSent?.()
  }

  onResponseStarted(): unknown {
    return this.#handler.onResponseStarted?.()
  }

  onHeaders(status: number, rawHeaders: unknown, resume: () => void, statusText: string): unknown {
    this.#call.answerBegan(status, readHeaders(rawHeaders))
    return this.#handler.onHeaders?.(status, rawHeaders, resume, statusText)
  }

  onData(chunk: Uint8Array): unknown {
    this.#call.received(chunk)
    return this.#handler.onData?.(chunk)
  }

  onComplete(trailers: unknown): unknown {
    this.#call.answerEnded()
    this.#onOver()
    return this.#handler.onComplete?.(trailers)
  }

  onError(error: unknown): unknown {
    this.#call.failed(error, this.#isGivenUp || undefined)
    this.#onOver()
    return this.#handler.onError?.(error)
  }

  onUpgrade(status: number, rawHeaders: unknown, socket: unknown): unknown {
    return this.#handler.onUpgrade?.(status, rawHeaders, socket)
  }
}

class NewStyleObserver implements NewHandler {
  readonly #handler: NewHandler
  readonly #call: ObservedCall
  readonly #isBodySeen: boolean
  readonly #onOver: () => void

  constructor(handler: NewHandler, { call, isBodySeen, onOver }: Observing) {
    this.#handler = handler
    this.#call = call
    this.#isBodySeen = isBodySeen
    this.#onOver = onOver
  }

  onRequestStart(controller: Controller, context: unknown): unknown {
    return this.#handler.onRequestStart?.(controller, context)
  }

  onRequestUpgrade(controller: Controller, status: number, headers: unknown, socket: unknown): unknown {
    return this.#handler.onRequestUpgrade?.(controller, status, headers, socket)
  }

  onBodySent(chunk: unknown): unknown {
    if (!this.#isBodySeen) this.#call.sent(chunk)
    return this.#handler.onBodySent?.(chunk)
  }

  onRequestSent(): unknown {
    if (!this.#isBodySeen) this.#call.askedSoon()
    return this.#handler.onRequestSent?.()
  }

  onResponseStarted(): unknown {
    return this.#handler.onResponseStarted?.()
  }

  onResponseStart(controller: Controller, status: number, headers: unknown, statusText: string): unknown {
    this.#call.answerBegan(status, readHeaders(headers))
    return this.#handler.onResponseStart?.(controller, status, headers, statusText)
  }

  onResponseData(controller: Controller, chunk: Uint8Array): unknown {
    this.#call.received(chunk)
    return this.#handler.onResponseData?.(controller, chunk)
  }

  onResponseEnd(controller: Controller, trailers: unknown): unknown {
    this.#call.answerEnded()
    this.#onOver()
    return this.#handler.onResponseEnd?.(controller, trailers)
  }

  onResponseError(controller: Controller, error: unknown): unknown {
    // The controller is the host's: only the host aborts it.
    this.#call.failed(error, controller?.aborted === true || undefined)
    this.#onOver()
    return this.#handler.onResponseError?.(controller, error)
  }
}

/** What undici gives a dispatcher: the parts that are looked at here. */
export type DispatchOptions = {
  origin?: string | URL
  path?: string
  method?: string
  body?: unknown
  headers?: unknown
}

/** A handler in the style of undici up to 6, which 7 still takes and Node's own fetch still uses. */
type OldHandler = {
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

/** A handler in the style of undici from 7 on. */
type NewHandler = {
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

export type Handler = OldHandler & NewHandler

export type Dispatch = (options: DispatchOptions, handler: Handler) => boolean

export type Dispatcher = { dispatch: Dispatch }
