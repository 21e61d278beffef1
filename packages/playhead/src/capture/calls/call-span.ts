import { SpanKind, SpanStatusCode, type Attributes, type Span } from '@opentelemetry/api'
import type { ModelRequest, ModelResponse } from '@playhead/model'
import { usageAttributes } from '../../record/opentelemetry/usage-attributes.ts'
import type { ActiveCapture } from './active-capture.ts'
import { ContentWriter } from './content-writer.ts'
import type { StreamLog } from '../streams/stream-log.ts'
import { isObject, toText } from '../json-value.ts'

export type CallStart = {
  question: ModelRequest
  provider: string
  /** Milliseconds since 1970. */
  startedAtMs: number
  attributes: Attributes
}

export type CallEnd = {
  answer?: ModelResponse | undefined
  stream?: { log: StreamLog; firstTokenMs: number | undefined; isAborted: boolean } | undefined
  error?: { type: string; message: string } | undefined
  attributes?: Attributes
  isTruncated?: boolean
  /** Since the start. */
  durationMs: number
}

/** Attributes of a request whose text is the user's, or the developer's. */
const textAttributes = ['gen_ai.request.stop_sequences', 'gen_ai.request.response_format']

/** The span of one call to a model. */
export class CallSpan {
  readonly #span: Span
  readonly #writer: ContentWriter
  readonly #startedAtMs: number
  readonly #capture: ActiveCapture

  /** Starts in the context that is active: it has to be the caller's. */
  constructor(capture: ActiveCapture, { question, provider, startedAtMs, attributes }: CallStart) {
    const { options } = capture
    this.#capture = capture
    this.#writer = new ContentWriter(options)
    this.#startedAtMs = startedAtMs
    const { operation, model } = question
    this.#span = options.tracer().startSpan(model === undefined ? operation : `${operation} ${model}`, {
      kind: SpanKind.CLIENT,
      startTime: startedAtMs,
      attributes: {
        'gen_ai.operation.name': operation,
        'gen_ai.provider.name': provider,
        ...(model !== undefined && { 'gen_ai.request.model': model }),
        ...this.#parameters(question.attributes),
        ...attributes,
        ...this.#asked(question),
      },
    })
  }

  get span(): Span {
    return this.#span
  }

  end({ answer, stream, error, attributes, isTruncated = false, durationMs }: CallEnd): void {
    const span = this.#span
    const content = answer === undefined ? {} : this.#answered(answer)
    const failure = error ?? answer?.error
    span.setAttributes({ ...attributes, ...content, ...this.#streamed(stream), ...this.#failed(failure) })
    if (this.#writer.isTruncated || isTruncated) span.setAttribute('playhead.truncated', true)
    if (failure !== undefined)
      span.setStatus({ code: SpanStatusCode.ERROR, message: this.#message(failure.message) })
    this.#capture.captured += 1
    span.end(this.#startedAtMs + durationMs)
  }

  /** Ends what can't be told any further. */
  abandon(durationMs: number): void {
    this.#span.end(this.#startedAtMs + durationMs)
  }

  #parameters(attributes: Attributes): Attributes {
    const copy = { ...attributes }
    for (const name of textAttributes) {
      const value = copy[name]
      if (value === undefined) continue
      if (!this.#capture.options.content) delete copy[name]
      else if (typeof value === 'string') copy[name] = this.#writer.text(value)
      else if (Array.isArray(value)) copy[name] = value.map((item) => this.#writer.text(String(item)))
    }
    return copy
  }

  #asked({ messages, system = [], tools = [] }: ModelRequest): Attributes {
    return {
      ...(system.length > 0 && { 'gen_ai.system_instructions': this.#writer.parts(system) }),
      ...(messages.length > 0 && { 'gen_ai.input.messages': this.#writer.messages(messages) }),
      ...(tools.length > 0 && { 'gen_ai.tool.definitions': this.#writer.tools(tools) }),
    }
  }

  #answered({ id, model, messages, finishReasons, usage, attributes }: ModelResponse): Attributes {
    return {
      ...(id !== undefined && { 'gen_ai.response.id': id }),
      ...(model !== undefined && { 'gen_ai.response.model': model }),
      ...(finishReasons.length > 0 && { 'gen_ai.response.finish_reasons': finishReasons }),
      ...usageAttributes(usage),
      ...attributes,
      ...(messages.length > 0 && { 'gen_ai.output.messages': this.#writer.messages(messages) }),
    }
  }

  #streamed(stream: CallEnd['stream']): Attributes {
    if (stream === undefined) return {}
    const { log, firstTokenMs, isAborted } = stream
    const { content, redactText, maxValueBytes } = this.#capture.options
    const chunks = content ? log.toJson(redactText(log.text), maxValueBytes) : undefined
    if (chunks?.isTruncated === true) this.#writer.isTruncated = true
    const json = content ? chunks?.json : log.toTimes()
    return {
      ...(firstTokenMs !== undefined && { 'gen_ai.response.time_to_first_chunk': firstTokenMs / 1000 }),
      ...(json !== undefined && { 'playhead.stream.chunks': json }),
      ...(isAborted && { 'playhead.stream.aborted': true }),
    }
  }

  #failed(error: CallEnd['error']): Attributes {
    return error === undefined ? {} : { 'error.type': error.type === '' ? 'error' : error.type }
  }

  /** A provider's message may quote what it was sent. */
  #message(message: string): string {
    return this.#capture.options.content ? this.#writer.text(message) : ''
  }
}

/** True when the host gave the request up. */
export function isAbort(error: unknown): boolean {
  if (!isObject(error)) return false
  const { name, code } = error
  return (
    name === 'AbortError' ||
    name === 'CanceledError' ||
    name === 'TimeoutError' ||
    code === 'ABORT_ERR' ||
    code === 'ERR_CANCELED' ||
    code === 'UND_ERR_ABORTED'
  )
}

/** A failed request by the code that people search for: ECONNREFUSED, UND_ERR_SOCKET, AbortError. */
export function describeFailure(error: unknown): { type: string; message: string } {
  if (!isObject(error)) return { type: 'error', message: String(error) }
  const inner = isObject(error.cause) ? error.cause : error
  const type = toText(error.code) ?? toText(inner.code) ?? toText(error.name) ?? 'error'
  const message = toText(error.message) ?? toText(inner.message) ?? ''
  return { type, message }
}
