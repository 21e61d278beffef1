import {
  readProviderError,
  type ModelApi,
  type StreamAssembler,
  isRecord,
  parseJson,
  type JsonObject,
} from '@playhead/model'
import { AsyncLocalStorage } from 'node:async_hooks'
import { Buffer } from 'node:buffer'
import { setImmediate } from 'node:timers'
import type { Attributes } from '@opentelemetry/api'
import { preciseNowMs } from '../../record/opentelemetry/clock.ts'
import { activeTape } from '../../record/session/active-tape.ts'
import type { ActiveCapture } from './active-capture.ts'
import { ResponseBody, withoutVectors } from '../streams/response-body.ts'
import { describeRequestError, isAbort, type CallError } from './call-error.ts'
import {
  attemptAttributes,
  CallSpan,
  responseAttributes,
  serverAttributes,
  type CallEnd,
  type CallStart,
  type HeaderReader,
} from './call-span.ts'
import { isKnownHost, providerOfCall } from './provider-of-call.ts'
import { recognizeAddress, recognizeRequest } from './recognize-request.ts'
import { findSentRequest, SENT_HEADER, type SentRequest } from './sent-request.ts'
import { StreamLog } from '../streams/stream-log.ts'

/** Longer requests are not parsed, because of what that would cost the host. */
const MAX_REQUEST_BYTES = 64 * 1024 * 1024

/** One HTTP request that may be a model call. Hooks report what they see, in order. Errors in here never reach the host. */
export class ObservedCall {
  readonly url: URL
  readonly #capture: ActiveCapture
  readonly #requestHeader: HeaderReader
  readonly #inCaller = AsyncLocalStorage.snapshot()
  readonly #startedAtMs = preciseNowMs()
  readonly #startedAt = performance.now()
  readonly #sent: Uint8Array[] = []
  readonly #log = new StreamLog()
  #deferred: [chunk: Uint8Array, atMs: number][] = []
  #sentBytes = 0
  #isIdentified = false
  #isOver = false
  #api: ModelApi | undefined
  #assembler: StreamAssembler | undefined
  #span: CallSpan | undefined
  #body: ResponseBody | undefined
  #isStream = false
  #status = 0
  #responseAttributes: Attributes = {}
  #firstTokenMs: number | undefined

  constructor(capture: ActiveCapture, url: URL, requestHeader: HeaderReader) {
    this.#capture = capture
    this.url = url
    this.#requestHeader = requestHeader
  }

  /** True until the response starts. */
  get isWaiting(): boolean {
    return !this.#isOver && this.#body === undefined
  }

  get sentBytes(): number {
    return this.#sentBytes
  }

  addRequestChunk(chunk: unknown): void {
    this.#guard(() => {
      if (this.#isIdentified) return
      const bytes = toBytes(chunk)
      if (bytes === undefined) return
      this.#sentBytes += bytes.byteLength
      if (this.#sentBytes <= MAX_REQUEST_BYTES) this.#sent.push(bytes)
    })
  }

  /** The request was sent. It is parsed when the host is idle, at the latest when the response starts. */
  requestEnded(): void {
    setImmediate(() => this.identify())
  }

  /** Parses the request body, which tells whether this is a model call. */
  identify(): void {
    this.#guard(() => {
      if (this.#isIdentified) return
      this.#isIdentified = true
      const body = this.#sentBytes > MAX_REQUEST_BYTES ? undefined : parseBody(this.#sent)
      this.#sent.length = 0
      const api = body === undefined ? undefined : recognizeRequest(this.url, body)
      if (body === undefined || api === undefined) {
        this.#isOver = true
        return
      }
      const request = api.readRequest(body, this.url)
      this.#api = api
      this.#isStream = request.isStream
      this.#assembler = api.createAssembler()
      this.#start({ request, provider: providerOfCall(this.url, api, request.model) })
    })
  }

  responseStarted(status: number, header: HeaderReader): void {
    // Ignore interim responses such as 103.
    if (status < 200) return
    this.identify()
    this.#guard(() => {
      const sent = findSentRequest(header(SENT_HEADER))
      if (sent !== undefined) this.#correct(sent)
      this.#status = status
      this.#responseAttributes = { ...responseAttributes(status, header), ...this.#sourceOf(header) }
      this.#body = new ResponseBody({
        contentType: header('content-type'),
        contentEncoding: header('content-encoding'),
        isStream: this.#isStream && status < 300,
        onEvent: (data, atMs) => this.#guard(() => this.#addEvent(data, atMs)),
      })
    })
  }

  /** Defers parsing, so that the host gets its first token without delay. */
  addResponseChunk(chunk: Uint8Array): void {
    this.#guard(() => {
      const atMs = performance.now()
      if (this.#body?.isEvents !== true) return this.#body?.add(chunk, atMs)
      this.#deferred.push([Uint8Array.from(chunk), atMs])
      // A host may look at the session as soon as it has seen the last event.
      if (mayBeLast(chunk)) this.#readDeferred()
      else if (this.#deferred.length === 1) setImmediate(() => this.#guard(() => this.#readDeferred()))
    })
  }

  responseEnded(): void {
    this.#guard(() => {
      this.#readDeferred()
      this.#body?.end(performance.now())
      // The last event may have finished it.
      if (!this.#isOver) this.#finish({})
    })
  }

  /** The request failed, or the host aborted it. */
  failed(error: unknown, isAborted = isAbort(error)): void {
    this.#guard(() => {
      if (!this.#isIdentified && this.#sentBytes > 0) this.identify()
      if (this.#isOver) return
      if (this.#span === undefined) this.#startWithoutBody()
      this.#readDeferred()
      this.#body?.end(performance.now())
      if (!this.#isOver) this.#finish({ failure: describeRequestError(error), isAborted })
    })
  }

  /** Ends the span, because the rest of the call can't be observed. */
  abandon(): void {
    if (!this.#isOver) this.#giveUp()
  }

  #guard(run: () => void): void {
    if (this.#isOver) return
    try {
      run()
    } catch (error) {
      this.#capture.fail(error)
      this.#giveUp()
    }
  }

  #giveUp(): void {
    this.#isOver = true
    this.#capture.guard(() => this.#span?.abandon(this.#elapsedMs()))
  }

  #start(start: Pick<CallStart, 'request' | 'provider'>): void {
    const attributes = {
      ...serverAttributes(this.url),
      ...attemptAttributes(this.#requestHeader('x-stainless-retry-count')),
    }
    const startedAtMs = this.#startedAtMs
    this.#span = this.#inCaller(() => new CallSpan(this.#capture, { ...start, startedAtMs, attributes }))
  }

  /** The host's request was changed after it was observed. */
  #correct({ url, body }: SentRequest): void {
    const json = parseBody([body])
    if (json !== undefined && this.#api !== undefined)
      this.#span?.setRequest(this.#api.readRequest(json, url))
  }

  /** In a re-run: whether the answer is from the tape or from the network. */
  #sourceOf(header: HeaderReader): Attributes {
    if (this.#inCaller(activeTape) === undefined) return {}
    return { 'playhead.step.source': header('x-playhead-source') ?? 'live' }
  }

  /** The connection failed before the body was sent, so only the address identifies the call. */
  #startWithoutBody(): void {
    const shape = recognizeAddress(this.url, isKnownHost(this.url))
    if (shape === undefined) {
      this.#isOver = true
      return
    }
    const { api, operation } = shape
    const { model } = api.readRequest({}, this.url)
    const request = {
      operation,
      ...(model !== undefined && { model }),
      isStream: false,
      messages: [],
      attributes: {},
    }
    this.#start({ request, provider: providerOfCall(this.url, api, model) })
  }

  #readDeferred(): void {
    const chunks = this.#deferred
    this.#deferred = []
    for (const [chunk, atMs] of chunks) this.#body?.add(chunk, atMs)
  }

  #addEvent(data: string, atMs: number): void {
    if (data === '[DONE]') return this.#finish({ isDone: true })
    const event = parseJson(data)
    if (!isRecord(event)) return
    const delta = this.#assembler!.add(event)
    if (delta.isToken) this.#firstTokenMs ??= atMs - this.#startedAt
    if (delta.text !== undefined) this.#log.add(atMs - this.#startedAt, delta.text)
    if (delta.isLast) this.#finish({})
  }

  #finish(outcome: Outcome): void {
    this.#isOver = true
    this.#body?.close()
    const end = this.#status >= 300 ? this.#failedResponse() : this.#completed(outcome)
    this.#span?.end({ ...end, attributes: this.#responseAttributes, durationMs: this.#elapsedMs() })
  }

  #failedResponse(): Omit<CallEnd, 'durationMs'> {
    if (this.#status < 400) return {}
    const text = this.#body?.text ?? ''
    const error = readProviderError(parseJson(text))
    const message = error?.message ?? text.slice(0, 1000)
    return { error: { type: error?.type || String(this.#status), message } }
  }

  #completed(outcome: Outcome): Omit<CallEnd, 'durationMs'> {
    const isStreamed = this.#body?.isEvents === true
    const isUnreadable = this.#body?.isUnreadable === true
    const body = isUnreadable ? undefined : this.#responseBody(isStreamed)
    const response = body === undefined ? undefined : this.#api!.readResponse(body)
    const hasFinished = outcome.isDone === true || (response?.finishReasons.length ?? 0) > 0
    const isAborted = isStreamed && !hasFinished && response?.error === undefined
    const stream = { log: this.#log, firstTokenMs: this.#firstTokenMs, isAborted }
    const failure = hasFinished ? undefined : failureOf(outcome, isStreamed)
    const isMalformed = response === undefined && !isUnreadable
    const error = failure ?? (isMalformed && outcome.failure === undefined ? malformed : undefined)
    return { response, body, ...(isStreamed && { stream }), error, isTruncated: isUnreadable }
  }

  /** The whole response as JSON; a stream as the response that a request without streaming would get. */
  #responseBody(isStreamed: boolean): JsonObject | undefined {
    if (isStreamed) return this.#assembler!.response()
    const parsed = parseJson(withoutVectors(this.#body?.text ?? ''))
    // Gemini streams a JSON list if the request does not ask for events.
    if (!Array.isArray(parsed)) return isRecord(parsed) ? parsed : undefined
    for (const item of parsed) if (isRecord(item)) this.#assembler!.add(item)
    return this.#assembler!.response()
  }

  #elapsedMs(): number {
    return performance.now() - this.#startedAt
  }
}

type Outcome = {
  failure?: CallError
  isAborted?: boolean
  /** The provider said that the stream is complete, whether or not it said why. */
  isDone?: boolean
}

const malformed = { type: 'malformed_response', message: 'The response is not JSON.' }

/** A host that stops reading a stream has what it wanted, so that is not a failure. */
function failureOf({ failure, isAborted = false }: Outcome, isStreamed: boolean): CallError | undefined {
  return isAborted && isStreamed ? undefined : failure
}

const finalEvent = /\[DONE\]|message_stop|response\.(?:completed|incomplete|failed)|"done": ?true/

function mayBeLast(chunk: Uint8Array): boolean {
  return finalEvent.test(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1'))
}

function toBytes(chunk: unknown): Uint8Array | undefined {
  if (typeof chunk === 'string') return Buffer.from(chunk)
  if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk)
  return ArrayBuffer.isView(chunk)
    ? new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    : undefined
}

function parseBody(chunks: readonly Uint8Array[]): JsonObject | undefined {
  const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
  const body = parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString())
  return isRecord(body) ? body : undefined
}
