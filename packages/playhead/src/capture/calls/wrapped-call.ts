import type { ModelApi, StreamAssembler } from '@playhead/model'
import { context, trace, type Context } from '@opentelemetry/api'
import { preciseNowMs } from '../../record/opentelemetry/clock.ts'
import { activeCapture, type ActiveCapture } from './active-capture.ts'
import { CallSpan, type CallEnd, describeFailure, isAbort } from './call-span.ts'
import { isObject, toNumber, toText, type JsonObject } from '../json-value.ts'
import { providerOfCall } from './provider-of-call.ts'
import { StreamLog } from '../streams/stream-log.ts'

export type Asked = { api: ModelApi; body: JsonObject; url: URL }

/** One call of a wrapped client's method. Nothing that goes wrong in here gets out. */
export class WrappedCall {
  /** In which the method has to run: what is recorded below it belongs to it. */
  readonly context: Context
  readonly #capture: ActiveCapture
  readonly #api: ModelApi
  readonly #span: CallSpan
  readonly #assembler: StreamAssembler
  readonly #log = new StreamLog()
  readonly #startedAt = performance.now()
  #firstTokenMs: number | undefined
  #isOver = false

  private constructor(capture: ActiveCapture, { api, body, url }: Asked) {
    const question = api.readRequest(body, url)
    const provider = providerOfCall(url, api, question.model)
    const attributes = { 'server.address': url.hostname }
    this.#capture = capture
    this.#api = api
    this.#assembler = api.createAssembler()
    this.#span = new CallSpan(capture, { question, provider, startedAtMs: preciseNowMs(), attributes })
    this.context = trace.setSpan(context.active(), this.#span.span)
  }

  /** Undefined while nothing is recorded, and when it can't be. */
  static begin(read: () => Asked): WrappedCall | undefined {
    const capture = activeCapture()
    return capture?.guard(() => new WrappedCall(capture, read()))
  }

  answered(response: unknown): void {
    this.#end(() => ({ answer: isObject(response) ? this.#api.readResponse(response) : undefined }))
  }

  streamed(event: unknown): void {
    if (this.#isOver || !isObject(event)) return
    this.#capture.guard(() => {
      const piece = this.#assembler.add(event)
      const offsetMs = performance.now() - this.#startedAt
      if (piece.isToken) this.#firstTokenMs ??= offsetMs
      if (piece.text !== undefined) this.#log.add(offsetMs, piece.text)
    })
  }

  streamEnded(): void {
    this.#end(() => this.#stream())
  }

  failed(error: unknown, isStreamed = false): void {
    this.#end(() => ({
      ...(isStreamed && this.#stream()),
      ...(!(isStreamed && isAbort(error)) && { error: describeApiError(error) }),
    }))
  }

  #stream(): Pick<CallEnd, 'answer' | 'stream'> {
    const answer = this.#api.readResponse(this.#assembler.response())
    const isAborted = answer.finishReasons.length === 0
    return { answer, stream: { log: this.#log, firstTokenMs: this.#firstTokenMs, isAborted } }
  }

  #end(read: () => Omit<CallEnd, 'durationMs'>): void {
    if (this.#isOver) return
    this.#isOver = true
    const durationMs = performance.now() - this.#startedAt
    const isEnded = this.#capture.guard(() => {
      this.#span.end({ ...read(), durationMs })
      return true
    })
    if (isEnded !== true) this.#capture.guard(() => this.#span.abandon(durationMs))
  }
}

/** The clients' errors carry the status and the provider's own words. */
function describeApiError(error: unknown): { type: string; message: string } {
  if (!isObject(error)) return describeFailure(error)
  const status = toNumber(error.status)
  const inner = isObject(error.error) ? error.error : {}
  const nested = isObject(inner.error) ? inner.error : inner
  const word = toText(error.code) ?? toText(nested.type) ?? toText(error.type)
  if (status === undefined && word === undefined) return describeFailure(error)
  return { type: word ?? String(status), message: toText(nested.message) ?? toText(error.message) ?? '' }
}
