import { type ModelApi, type StreamAssembler, isRecord, type JsonObject } from '@playhead/model'
import { context, trace, type Context } from '@opentelemetry/api'
import { preciseNowMs } from '../../record/opentelemetry/clock.ts'
import { activeCapture, type ActiveCapture } from './active-capture.ts'
import { describeClientError, isAbort } from './call-error.ts'
import { CallSpan, type CallEnd } from './call-span.ts'
import { providerOfCall } from './provider-of-call.ts'
import { StreamLog } from '../streams/stream-log.ts'

export type WrappedRequest = { api: ModelApi; body: JsonObject; url: URL }

/** One call of a wrapped client's method. Errors in here never reach the host. */
export class WrappedCall {
  /** The method runs in this context, so that spans inside it belong to the call. */
  readonly context: Context
  readonly #capture: ActiveCapture
  readonly #api: ModelApi
  readonly #span: CallSpan
  readonly #assembler: StreamAssembler
  readonly #log = new StreamLog()
  readonly #startedAt = performance.now()
  #firstTokenMs: number | undefined
  #isOver = false

  private constructor(capture: ActiveCapture, { api, body, url }: WrappedRequest) {
    const request = api.readRequest(body, url)
    const provider = providerOfCall(url, api, request.model)
    const attributes = { 'server.address': url.hostname }
    this.#capture = capture
    this.#api = api
    this.#assembler = api.createAssembler()
    this.#span = new CallSpan(capture, { request, provider, startedAtMs: preciseNowMs(), attributes })
    this.context = trace.setSpan(context.active(), this.#span.span)
  }

  /** Undefined if nothing is recorded. */
  static start(read: () => WrappedRequest): WrappedCall | undefined {
    const capture = activeCapture()
    return capture?.guard(() => new WrappedCall(capture, read()))
  }

  setSource(source: string): void {
    this.#capture.guard(() => this.#span.span.setAttribute('playhead.step.source', source))
  }

  responded(response: unknown): void {
    this.#end(() =>
      isRecord(response) ? { response: this.#api.readResponse(response), body: response } : {},
    )
  }

  addEvent(event: unknown): void {
    if (this.#isOver || !isRecord(event)) return
    this.#capture.guard(() => {
      const delta = this.#assembler.add(event)
      const offsetMs = performance.now() - this.#startedAt
      if (delta.isToken) this.#firstTokenMs ??= offsetMs
      if (delta.text !== undefined) this.#log.add(offsetMs, delta.text)
    })
  }

  streamEnded(): void {
    this.#end(() => this.#stream())
  }

  failed(error: unknown, isStreamed = false): void {
    this.#end(() => ({
      ...(isStreamed && this.#stream()),
      ...(!(isStreamed && isAbort(error)) && { error: describeClientError(error) }),
    }))
  }

  #stream(): Pick<CallEnd, 'response' | 'body' | 'stream'> {
    const body = this.#assembler.response()
    const response = this.#api.readResponse(body)
    const isAborted = response.finishReasons.length === 0
    return { response, body, stream: { log: this.#log, firstTokenMs: this.#firstTokenMs, isAborted } }
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
