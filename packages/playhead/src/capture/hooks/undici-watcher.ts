import { subscribe, unsubscribe, type ChannelListener } from 'node:diagnostics_channel'
import type { ActiveCapture } from '../calls/active-capture.ts'
import { readHeaders, requestUrl } from './request-parts.ts'
import { toObject } from '../json-value.ts'
import { ObservedCall } from '../calls/observed-call.ts'
import { mayBeCall } from '../calls/recognize-request.ts'
import type { WatchedRequests } from './watched-requests.ts'

type Noticed = { call: ObservedCall; hasSent: boolean; hasReceived: boolean }

export type UndiciNotice = {
  capture: ActiveCapture
  watched: WatchedRequests
  /** Called when a request came by another way than the global dispatcher. */
  onUnwatched: () => void
}

/**
 * Watches requests that clients send through a dispatcher of their own, by what undici announces. Undici tells of bodies
 * since 7.11; of older ones only the address is seen, and a line says what to do.
 */
export class UndiciWatcher {
  readonly #notice: UndiciNotice
  readonly #noticed = new Map<object, Noticed>()
  readonly #onCreate: ChannelListener
  readonly #others: [channel: string, listener: ChannelListener][]

  constructor(notice: UndiciNotice) {
    this.#notice = notice
    const { capture } = notice
    this.#onCreate = (message) => capture.guard(() => this.#create(requestOf(message)))
    const on = (name: string, listener: (noticed: Noticed, message: unknown) => void) =>
      [
        `undici:request:${name}`,
        (message: unknown) =>
          capture.guard(() => {
            const noticed = this.#noticed.get(requestOf(message))
            if (noticed !== undefined) listener(noticed, message)
          }),
      ] satisfies [string, ChannelListener]
    this.#others = [
      on('bodyChunkSent', (noticed, message) => {
        noticed.hasSent = true
        noticed.call.sent(toObject(message).chunk)
      }),
      on('bodySent', ({ call, hasSent }) => hasSent && call.askedSoon()),
      on('headers', (noticed, message) => this.#headers(noticed, message)),
      on('bodyChunkReceived', (noticed, message) => {
        noticed.hasReceived = true
        noticed.call.received(toObject(message).chunk as Uint8Array)
      }),
      on('trailers', (noticed, message) => this.#trailers(noticed, requestOf(message))),
      on('error', ({ call }, message) => {
        call.failed(toObject(message).error)
        this.#forget(requestOf(message))
      }),
    ]
    subscribe('undici:request:create', this.#onCreate)
  }

  uninstall(): void {
    unsubscribe('undici:request:create', this.#onCreate)
    for (const [request, { call }] of this.#noticed) {
      call.abandon()
      this.#forget(request)
    }
  }

  #create(request: object): void {
    const { method, path, origin, body, contentLength } = toObject(request)
    if (typeof path !== 'string' || !mayBeCall(String(method), path)) return
    const { capture, watched, onUnwatched } = this.#notice
    const url = requestUrl(origin, path)
    const isWhole = body instanceof Uint8Array
    const bytes = isWhole ? body.byteLength : contentLength
    if (url === undefined || watched.isWatched(url.href, bytes)) return
    if (capture.options.isOwnRequest(url)) return
    onUnwatched()
    const call = new ObservedCall(capture, url, readHeaders(toObject(request).headers))
    if (isWhole) {
      // It is announced once more when it is sent.
      call.sent(body)
      call.askedSoon()
    }
    if (this.#noticed.size === 0) for (const [channel, listener] of this.#others) subscribe(channel, listener)
    this.#noticed.set(request, { call, hasSent: isWhole, hasReceived: false })
  }

  #headers(noticed: Noticed, message: unknown): void {
    const { statusCode, headers } = toObject(toObject(message).response)
    if (noticed.hasSent) noticed.call.answerBegan(Number(statusCode), readHeaders(headers))
    else this.#unseen(noticed, requestOf(message))
  }

  #trailers(noticed: Noticed, request: object): void {
    if (!noticed.hasReceived) return this.#unseen(noticed, request)
    noticed.call.answerEnded()
    this.#forget(request)
  }

  #unseen({ call }: Noticed, request: object): void {
    reportUnseen(this.#notice.capture, call.url)
    call.abandon()
    this.#forget(request)
  }

  #forget(request: object): void {
    this.#noticed.delete(request)
    if (this.#noticed.size === 0)
      for (const [channel, listener] of this.#others) unsubscribe(channel, listener)
  }
}

function requestOf(message: unknown): object {
  return toObject(toObject(message).request)
}

/** Says once for each host what to do about calls that can't be watched. */
function reportUnseen(capture: ActiveCapture, url: URL): void {
  capture.failed += 1
  capture.reportOnce(
    `unseen ${url.host}`,
    `Calls to ${url.host} are not recorded: they go through a dispatcher of their own, of an undici before 7.11. ` +
      `Wrap the client: playhead.${wrapperFor(url)}(client).`,
  )
}

function wrapperFor({ pathname }: URL): string {
  if (pathname.endsWith('/messages')) return 'wrapAnthropic'
  return pathname.includes(':') ? 'wrapGoogleGenAI' : 'wrapOpenAI'
}
