import { subscribe, unsubscribe, type ChannelListener } from 'node:diagnostics_channel'
import type { ActiveCapture } from '../calls/active-capture.ts'
import { readHeaders, requestUrl } from './request-parts.ts'
import { toObject } from '@playhead/model'
import { ObservedCall } from '../calls/observed-call.ts'
import { mayBeCall } from '../calls/recognize-request.ts'
import type { WatchedRequests } from './watched-requests.ts'

type Observed = { call: ObservedCall; isWhole: boolean; hasSent: boolean; hasReceived: boolean }

export type UndiciHookOptions = {
  capture: ActiveCapture
  watched: WatchedRequests
  /** Called if a request bypassed the global dispatcher. */
  onUnwatched: () => void
}

/**
 * Observes requests that bypass the global dispatcher, through undici's diagnostics channels. Those publish bodies since
 * undici 7.11. With older versions we only see the address, and a warning says what to do.
 */
export class UndiciHook {
  readonly #options: UndiciHookOptions
  readonly #observed = new Map<object, Observed>()
  readonly #onCreate: ChannelListener
  readonly #others: [channel: string, listener: ChannelListener][]

  constructor(options: UndiciHookOptions) {
    this.#options = options
    const { capture } = options
    this.#onCreate = (message) => capture.guard(() => this.#create(requestOf(message)))
    const on = (name: string, listener: (observed: Observed, message: unknown) => void) =>
      [
        `undici:request:${name}`,
        (message: unknown) =>
          capture.guard(() => {
            const observed = this.#observed.get(requestOf(message))
            if (observed !== undefined) listener(observed, message)
          }),
      ] satisfies [string, ChannelListener]
    this.#others = [
      on('bodyChunkSent', (observed, message) => {
        // A whole body was read when the request was created.
        if (observed.isWhole) return
        observed.hasSent = true
        observed.call.addRequestChunk(toObject(message).chunk)
      }),
      on('bodySent', ({ call, hasSent }) => hasSent && call.requestEnded()),
      on('headers', (observed, message) => this.#headers(observed, message)),
      on('bodyChunkReceived', (observed, message) => {
        observed.hasReceived = true
        observed.call.addResponseChunk(toObject(message).chunk as Uint8Array)
      }),
      on('trailers', (observed, message) => this.#trailers(observed, requestOf(message))),
      on('error', ({ call }, message) => {
        call.failed(toObject(message).error)
        this.#forget(requestOf(message))
      }),
    ]
    subscribe('undici:request:create', this.#onCreate)
  }

  uninstall(): void {
    unsubscribe('undici:request:create', this.#onCreate)
    for (const [request, { call }] of this.#observed) {
      call.abandon()
      this.#forget(request)
    }
  }

  #create(request: object): void {
    const { method, path, origin, body, contentLength } = toObject(request)
    if (typeof path !== 'string' || !mayBeCall(String(method), path)) return
    const { capture, watched, onUnwatched } = this.#options
    const url = requestUrl(origin, path)
    const isWhole = body instanceof Uint8Array
    const bytes = isWhole ? body.byteLength : contentLength
    if (url === undefined || watched.isWatched(url.href, bytes)) return
    if (capture.options.isOwnRequest(url)) return
    onUnwatched()
    const call = new ObservedCall(capture, url, readHeaders(toObject(request).headers))
    if (isWhole) {
      call.addRequestChunk(body)
      call.requestEnded()
    }
    if (this.#observed.size === 0)
      for (const [channel, listener] of this.#others) subscribe(channel, listener)
    this.#observed.set(request, { call, isWhole, hasSent: isWhole, hasReceived: false })
  }

  #headers(observed: Observed, message: unknown): void {
    const { statusCode, headers } = toObject(toObject(message).response)
    if (observed.hasSent) observed.call.responseStarted(Number(statusCode), readHeaders(headers))
    else this.#unobservable(observed, requestOf(message))
  }

  #trailers(observed: Observed, request: object): void {
    if (!observed.hasReceived) return this.#unobservable(observed, request)
    observed.call.responseEnded()
    this.#forget(request)
  }

  #unobservable({ call }: Observed, request: object): void {
    warnUnobservable(this.#options.capture, call.url)
    call.abandon()
    this.#forget(request)
  }

  #forget(request: object): void {
    this.#observed.delete(request)
    if (this.#observed.size === 0)
      for (const [channel, listener] of this.#others) unsubscribe(channel, listener)
  }
}

function requestOf(message: unknown): object {
  return toObject(toObject(message).request)
}

/** Warns once per host. */
function warnUnobservable(capture: ActiveCapture, url: URL): void {
  capture.failed += 1
  capture.reportOnce(
    `unobservable ${url.host}`,
    `Calls to ${url.host} are not recorded, because the client uses its own dispatcher from undici older than 7.11. ` +
      `Wrap the client: playhead.${wrapperFor(url)}(client).`,
  )
}

function wrapperFor({ pathname }: URL): string {
  if (pathname.endsWith('/messages')) return 'wrapAnthropic'
  return pathname.includes(':') ? 'wrapGoogleGenAI' : 'wrapOpenAI'
}
