import { tapeOfRequest } from '../../record/session/active-tape.ts'
import type { ActiveCapture } from '../calls/active-capture.ts'
import { readHeaders, requestUrl } from './request-parts.ts'
import { ObservedCall } from '../calls/observed-call.ts'
import { outerRealm } from './outer-realm.ts'
import { isLive, observeHandler, type Dispatch, type Dispatcher } from './observe-handler.ts'
import { mayBeCall } from '../calls/recognize-request.ts'
import { serveDispatch, type DispatchRequest } from './serve-response.ts'
import type { WatchedRequests } from './watched-requests.ts'

/** Where undici keeps the dispatcher that `fetch` uses; it depends on the version. */
const symbols = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')]

type Globals = { [symbol: symbol]: Dispatcher | undefined }

/** Observes all requests that go through undici's global dispatchers. */
export class DispatcherHook {
  readonly #capture: ActiveCapture
  readonly #watched: WatchedRequests
  readonly #restore: (() => void)[] = []
  readonly #hooked = new WeakSet<Dispatcher>()
  /** Replacements of the dispatchers that can't be hooked in place. */
  readonly #replacements = new WeakMap<Dispatcher, Dispatcher>()
  #isActive = true
  #depth = 0

  constructor(capture: ActiveCapture, watched: WatchedRequests) {
    this.#capture = capture
    this.#watched = watched
  }

  /** Hooks every global dispatcher, including one that was set since. */
  ensure(): void {
    // Node creates the dispatcher when one of the globals of `fetch` is first used.
    const globals = outerGlobals()
    if (symbols.every((symbol) => globals[symbol] === undefined)) void outerRealm().Headers
    for (const symbol of symbols) {
      const dispatcher = globals[symbol]
      if (typeof dispatcher?.dispatch !== 'function') continue
      if (!this.#hooked.has(dispatcher)) this.#hook(symbol, dispatcher)
    }
  }

  uninstall(): void {
    this.#isActive = false
    for (const restore of this.#restore.splice(0).toReversed()) restore()
  }

  /** In place if possible, because hosts compare dispatchers and close them. */
  #hook(symbol: symbol, dispatcher: Dispatcher): void {
    const before = Object.getOwnPropertyDescriptor(dispatcher, 'dispatch')
    const wrapped = this.#wrap(dispatcher.dispatch)
    const isDefined =
      !this.#replacements.has(dispatcher) &&
      Reflect.defineProperty(dispatcher, 'dispatch', {
        value: wrapped,
        configurable: true,
        enumerable: false,
        writable: true,
      })
    if (isDefined && dispatcher.dispatch === wrapped) {
      this.#hooked.add(dispatcher)
      this.#restore.push(() => restoreDispatch(dispatcher, wrapped, before))
      return
    }
    if (isDefined) restoreDispatch(dispatcher, wrapped, before, true)
    this.#replace(symbol, dispatcher)
  }

  /** Composed dispatchers are proxies whose `dispatch` can't be redefined. */
  #replace(symbol: symbol, dispatcher: Dispatcher): void {
    const observing = this.#replacements.get(dispatcher) ?? this.#createReplacement(dispatcher)
    const globals = outerGlobals()
    if (!Reflect.set(globals, symbol, observing)) return
    this.#restore.push(() => {
      if (globals[symbol] === observing) Reflect.set(globals, symbol, dispatcher)
    })
  }

  #createReplacement(dispatcher: Dispatcher): Dispatcher {
    const wrapped = this.#wrap(dispatcher.dispatch)
    const observing = new Proxy(dispatcher, {
      get(target, key) {
        if (key === 'dispatch') return wrapped
        const value: unknown = Reflect.get(target, key, target)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
    this.#hooked.add(observing)
    this.#replacements.set(dispatcher, observing)
    return observing
  }

  #wrap(dispatch: Dispatch): Dispatch {
    const observe = (request: DispatchRequest) => this.#observe(request)
    const within = <Result>(run: () => Result): Result => this.#within(run)
    return function dispatchObserved(this: Dispatcher, options, handler) {
      const send = (request: DispatchRequest): boolean => {
        const observed = observe(request)
        if (observed === undefined) return dispatch.call(this, request.options, request.handler)
        return within(() => dispatch.call(this, observed.options, observed.handler))
      }
      const tape = options?.[isLive] === true ? undefined : tapeOfRequest()
      if (tape === undefined) return send({ options, handler })
      return serveDispatch(tape, { options, handler }, { observe, send })
    }
  }

  /** Undefined for everything but model calls. */
  #observe({ options, handler }: DispatchRequest): DispatchRequest | undefined {
    if (!this.#isActive || this.#depth > 0) return undefined
    return this.#capture.guard(() => {
      if (typeof options?.path !== 'string' || !mayBeCall(options.method, options.path)) return undefined
      const url = requestUrl(options.origin, options.path)
      if (url === undefined || this.#capture.options.isOwnRequest(url)) return undefined
      const call = new ObservedCall(this.#capture, url, readHeaders(options.headers))
      const body = observeBody(options.body, call)
      const onEnd = () => this.#watched.remove(call)
      const observing = observeHandler(handler, { call, isBodyObserved: body !== undefined, onEnd })
      if (observing === undefined) return undefined
      this.#watched.add(call)
      const isSame = body === undefined || body === options.body
      return { options: isSame ? options : { ...options, body }, handler: observing }
    })
  }

  /** If a hooked dispatcher calls another one, that is still one model call. */
  #within<Result>(run: () => Result): Result {
    this.#depth += 1
    try {
      return run()
    } finally {
      this.#depth -= 1
    }
  }
}

function outerGlobals(): Globals {
  return outerRealm() as unknown as Globals
}

/** Returns the body to send; undefined if it can be observed only while it is sent. */
function observeBody(body: unknown, call: ObservedCall): unknown {
  if (typeof body !== 'string' && !(body instanceof Uint8Array) && !(body instanceof ArrayBuffer))
    return observeIterable(body, call)
  call.addRequestChunk(body)
  call.requestEnded()
  return body
}

function restoreDispatch(
  dispatcher: Dispatcher,
  wrapped: Dispatch,
  before: PropertyDescriptor | undefined,
  isForced = false,
): void {
  // If somebody else has wrapped it since, ours stays in place and passes everything through.
  if (!isForced && dispatcher.dispatch !== wrapped) return
  if (before === undefined) Reflect.deleteProperty(dispatcher, 'dispatch')
  else Reflect.defineProperty(dispatcher, 'dispatch', before)
}

/**
 * Wraps a body so that the call sees its chunks. Undefined for anything but a plain async iterable: forms and Node
 * streams are more than their chunks.
 */
function observeIterable(body: unknown, call: ObservedCall): AsyncIterable<unknown> | undefined {
  if (typeof body !== 'object' || body === null || !(Symbol.asyncIterator in body)) return undefined
  if ('pipe' in body || 'getReader' in body || 'append' in body) return undefined
  const iterable = body as AsyncIterable<unknown>
  return {
    [Symbol.asyncIterator]() {
      const iterator = iterable[Symbol.asyncIterator]()
      return {
        async next() {
          const result = await iterator.next()
          if (result.done === true) call.requestEnded()
          else call.addRequestChunk(result.value)
          return result
        },
        ...(iterator.return !== undefined && { return: (value: unknown) => iterator.return!(value) }),
        ...(iterator.throw !== undefined && { throw: (error: unknown) => iterator.throw!(error) }),
      }
    },
  }
}
