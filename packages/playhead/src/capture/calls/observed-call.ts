import { AsyncLocalStorage } from 'node:async_hooks'
import { Buffer } from 'node:buffer'
import { setImmediate } from 'node:timers'
import type { Attributes } from '@opentelemetry/api'
import { preciseNowMs } from '../../record/opentelemetry/clock.ts'
import type { ActiveCapture } from './active-capture.ts'
import { AnswerBody, withoutVectors } from '../streams/response-body.ts'
import type { Answer, Assembler, ModelApi } from '../apis/model-api.ts'
import { providerError } from '../apis/openai-usage.ts'
import { CallSpan, type CallEnd, describeFailure, isAbort } from './call-span.ts'
import { isObject, parseJson } from '../json-value.ts'
import { isKnownHost, providerOfCall } from './provider-of-call.ts'
import { recognizeAddress, recognizeRequest } from './recognize-request.ts'
import { StreamLog } from '../streams/stream-log.ts'

/** Longer requests are not read: they would cost the host more than they tell. */
const MAX_REQUEST_BYTES = 64 * 1024 * 1024

export type HeaderReader = (name: string) => string | undefined

/**
 * One request that may be a call to a model, watched while it passes by. Whoever watches tells what it sees in the order
 * in which it happens; nothing that goes wrong in here gets out.
 */
export class ObservedCall {
  readonly url: URL
  readonly #capture: ActiveCapture
  readonly #requestHeader: HeaderReader
  readonly #inCaller = AsyncLocalStorage.snapshot()
  readonly #startedAtMs = preciseNowMs()
  readonly #startedAt = performance.now()
  readonly #sent: Uint8Array[] = []
  readonly #log = new StreamLog()
  #unread: [chunk: Uint8Array, atMs: number][] = []
  #sentBytes = 0
  #isAsked = false
  #isOver = false
  #api: ModelApi | undefined
  #assembler: Assembler | undefined
  #span: CallSpan | undefined
  #body: AnswerBody | undefined
  #isStream = false
  #status = 0
  #facts: Attributes = {}
  #firstTokenMs: number | undefined

  constructor(capture: ActiveCapture, url: URL, requestHeader: HeaderReader) {
    this.#capture = capture
    this.url = url
    this.#requestHeader = requestHeader
  }

  /** True while the provider has not begun to answer. */
  get isWaiting(): boolean {
    return !this.#isOver && this.#body === undefined
  }

  /** How much of the request's body went out. */
  get sentBytes(): number {
    return this.#sentBytes
  }

  /** A piece of the request's body, in order. */
  sent(chunk: unknown): void {
    this.#guard(() => {
      if (this.#isAsked) return
      const bytes = toBytes(chunk)
      if (bytes === undefined) return
      this.#sentBytes += bytes.byteLength
      if (this.#sentBytes <= MAX_REQUEST_BYTES) this.#sent.push(bytes)
    })
  }

  /** The request is out. It is looked at when the host has nothing better to do, at the latest with the answer. */
  askedSoon(): void {
    setImmediate(() => this.asked())
  }

  /** The request is out: now its body tells whether it is a call to a model. */
  asked(): void {
    this.#guard(() => {
      if (this.#isAsked) return
      this.#isAsked = true
      const body = this.#sentBytes > MAX_REQUEST_BYTES ? undefined : parseBody(this.#sent)
      this.#sent.length = 0
      const api = body === undefined ? undefined : recognizeRequest(this.url, body)
      if (body === undefined || api === undefined) {
        this.#isOver = true
        return
      }
      const question = api.readQuestion(body, this.url)
      this.#api = api
      this.#isStream = question.isStream
      this.#assembler = api.createAssembler()
      this.#start({ question, provider: providerOfCall(this.url, api, question.model) })
    })
  }

  answerBegan(status: number, header: HeaderReader): void {
    // Interim responses say nothing about the call.
    if (status < 200) return
    this.asked()
    this.#guard(() => {
      this.#status = status
      this.#facts = factsOf(status, header)
      this.#body = new AnswerBody({
        contentType: header('content-type'),
        contentEncoding: header('content-encoding'),
        isStream: this.#isStream && status < 300,
        onEvent: (data, atMs) => this.#guard(() => this.#addEvent(data, atMs)),
      })
    })
  }

  /** Events are read when the host has had its turn: its first token must not wait for us. */
  received(chunk: Uint8Array): void {
    this.#guard(() => {
      const atMs = performance.now()
      if (this.#body?.isEvents !== true) return this.#body?.add(chunk, atMs)
      this.#unread.push([Uint8Array.from(chunk), atMs])
      // Hosts go on as soon as they have seen the last event, and may ask for the session then.
      if (mayBeLast(chunk)) this.#readUnread()
      else if (this.#unread.length === 1) setImmediate(() => this.#guard(() => this.#readUnread()))
    })
  }

  answerEnded(): void {
    this.#guard(() => {
      this.#readUnread()
      this.#body?.end(performance.now())
      // The last event may have ended it.
      if (!this.#isOver) this.#finish({})
    })
  }

  /** The request failed, or the host gave it up. */
  failed(error: unknown, isGivenUp = isAbort(error)): void {
    this.#guard(() => {
      if (!this.#isAsked && this.#sentBytes > 0) this.asked()
      if (this.#isOver) return
      if (this.#span === undefined) this.#startUnasked()
      this.#readUnread()
      this.#body?.end(performance.now())
      if (!this.#isOver) this.#finish({ failure: describeFailure(error), isGivenUp })
    })
  }

  /** Nothing more will be seen of it, for a reason of ours. */
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

  #start(start: Pick<ConstructorParameters<typeof CallSpan>[1], 'question' | 'provider'>): void {
    const attributes = {
      ...addressOf(this.url),
      ...attemptOf(this.#requestHeader('x-stainless-retry-count')),
    }
    const startedAtMs = this.#startedAtMs
    this.#span = this.#inCaller(() => new CallSpan(this.#capture, { ...start, startedAtMs, attributes }))
  }

  /** No connection, no body: only the address can tell what it would have been. */
  #startUnasked(): void {
    const shape = recognizeAddress(this.url, isKnownHost(this.url))
    if (shape === undefined) {
      this.#isOver = true
      return
    }
    const { model } = shape.api.readQuestion({}, this.url)
    const { operation } = shape
    const question = { operation, ...(model !== undefined && { model }), isStream: false, attributes: {} }
    this.#start({ question, provider: providerOfCall(this.url, shape.api, model) })
  }

  #readUnread(): void {
    const chunks = this.#unread
    this.#unread = []
    for (const [chunk, atMs] of chunks) this.#body?.add(chunk, atMs)
  }

  #addEvent(data: string, atMs: number): void {
    if (data === '[DONE]') return this.#finish({})
    const event = parseJson(data)
    if (!isObject(event)) return
    const piece = this.#assembler!.add(event)
    if (piece.isToken) this.#firstTokenMs ??= atMs - this.#startedAt
    if (piece.text !== undefined) this.#log.add(atMs - this.#startedAt, piece.text)
    if (piece.isLast) this.#finish({})
  }

  #finish(ending: Ending): void {
    this.#isOver = true
    this.#body?.close()
    const end = this.#status >= 300 ? this.#refused() : this.#answered(ending)
    this.#span?.end({ ...end, attributes: this.#facts, durationMs: this.#elapsedMs() })
  }

  /** Anything but a success. */
  #refused(): Omit<CallEnd, 'durationMs'> {
    if (this.#status < 400) return {}
    const text = this.#body?.text ?? ''
    const said = providerError(parseJson(text))
    const message = said?.message ?? text.slice(0, 1000)
    return { error: { type: said?.type || String(this.#status), message } }
  }

  #answered(ending: Ending): Omit<CallEnd, 'durationMs'> {
    const isStreamed = this.#body?.isEvents === true
    const isUnreadable = this.#body?.isUnreadable === true
    const answer = isUnreadable ? undefined : this.#readAnswer(isStreamed)
    const hasFinished = (answer?.finishReasons.length ?? 0) > 0
    const isAborted = isStreamed && !hasFinished && answer?.error === undefined
    const stream = { log: this.#log, firstTokenMs: this.#firstTokenMs, isAborted }
    const failure = hasFinished ? undefined : failureOf(ending, isStreamed)
    const isMalformed = answer === undefined && !isUnreadable
    const error = failure ?? (isMalformed && ending.failure === undefined ? malformed : undefined)
    return { answer, ...(isStreamed && { stream }), error, isTruncated: isUnreadable }
  }

  #readAnswer(isStreamed: boolean): Answer | undefined {
    if (isStreamed) return this.#api!.readAnswer(this.#assembler!.whole())
    const parsed = parseJson(withoutVectors(this.#body?.text ?? ''))
    // Gemini streams a list where it is not asked for events.
    if (!Array.isArray(parsed)) return isObject(parsed) ? this.#api!.readAnswer(parsed) : undefined
    for (const item of parsed) if (isObject(item)) this.#assembler!.add(item)
    return this.#api!.readAnswer(this.#assembler!.whole())
  }

  #elapsedMs(): number {
    return performance.now() - this.#startedAt
  }
}

type Ending = { failure?: CallEnd['error']; isGivenUp?: boolean }

const malformed = { type: 'malformed_response', message: 'The answer is not JSON.' }

/** A host that stops reading a stream has what it wanted: that is no failure. */
function failureOf({ failure, isGivenUp = false }: Ending, isStreamed: boolean): CallEnd['error'] {
  return isGivenUp && isStreamed ? undefined : failure
}

const lastWords = /\[DONE\]|message_stop|response\.(?:completed|incomplete|failed)|"done": ?true/

function mayBeLast(chunk: Uint8Array): boolean {
  return lastWords.test(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1'))
}

function toBytes(chunk: unknown): Uint8Array | undefined {
  if (typeof chunk === 'string') return Buffer.from(chunk)
  if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk)
  return ArrayBuffer.isView(chunk)
    ? new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    : undefined
}

function parseBody(chunks: readonly Uint8Array[]): { [key: string]: unknown } | undefined {
  const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
  const body = parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString())
  return isObject(body) ? body : undefined
}

function addressOf({ hostname, port, protocol }: URL): Attributes {
  return {
    'server.address': hostname,
    'server.port': port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  }
}

/** The SDKs that say so count their retries from 0. */
function attemptOf(retryCount: string | undefined): Attributes {
  const retries = Number(retryCount ?? Number.NaN)
  if (!Number.isInteger(retries)) return {}
  return {
    'playhead.step.attempt': retries + 1,
    ...(retries > 0 && { 'http.request.resend_count': retries }),
  }
}

/** Of the headers only what helps to ask the provider, or to understand a retry. */
function factsOf(status: number, header: HeaderReader): Attributes {
  const requestId = header('x-request-id') ?? header('request-id')
  const retryAfter = status >= 400 ? header('retry-after') : undefined
  return {
    'http.response.status_code': status,
    ...(requestId !== undefined && { 'http.response.header.x-request-id': [requestId] }),
    ...(retryAfter !== undefined && { 'http.response.header.retry-after': [retryAfter] }),
  }
}
