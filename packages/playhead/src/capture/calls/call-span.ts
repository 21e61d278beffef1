import { SpanKind, SpanStatusCode, type Attributes, type Span } from '@opentelemetry/api'
import type { JsonObject, ModelRequest, ModelResponse } from '@playhead/model'
import { usageAttributes } from '../../record/opentelemetry/usage-attributes.ts'
import type { ActiveCapture } from './active-capture.ts'
import type { CallError } from './call-error.ts'
import { ContentWriter } from './content-writer.ts'
import type { StreamLog } from '../streams/stream-log.ts'

export type CallStart = {
  request: ModelRequest
  provider: string
  /** Milliseconds since 1970. */
  startedAtMs: number
  attributes: Attributes
}

export type CallEnd = {
  response?: ModelResponse | undefined
  /** The response as the provider sent it; it is what a later run is answered with. */
  body?: JsonObject | undefined
  stream?: { log: StreamLog; firstTokenMs: number | undefined; isAborted: boolean } | undefined
  error?: CallError | undefined
  attributes?: Attributes
  isTruncated?: boolean
  /** Since the start. */
  durationMs: number
}

const TRACE_ID_LENGTH = 32

/** Request parameters that contain text of the developer or the user. */
const textAttributes = ['gen_ai.request.stop_sequences', 'gen_ai.request.response_format']

/** The span of one model call. */
export class CallSpan {
  readonly #span: Span
  readonly #writer: ContentWriter
  readonly #startedAtMs: number
  readonly #capture: ActiveCapture
  readonly #request: ModelRequest

  /** Must be created in the context of the caller. */
  constructor(capture: ActiveCapture, { request, provider, startedAtMs, attributes }: CallStart) {
    const { options } = capture
    this.#capture = capture
    this.#writer = new ContentWriter(options)
    this.#startedAtMs = startedAtMs
    this.#request = request
    this.#span = options.tracer().startSpan(nameOf(request), {
      kind: SpanKind.CLIENT,
      startTime: startedAtMs,
      attributes: {
        'gen_ai.provider.name': provider,
        ...attributes,
        ...requestAttributesOf(request, this.#writer, options.content),
      },
    })
    const continued = capture.conversations.find(this.#span, request)
    if (continued === undefined) return
    this.#span.setAttribute('playhead.continues', continued)
    options.onContinued?.(this.#span, continued.slice(0, TRACE_ID_LENGTH))
  }

  /** Replaces what the span says about its request. */
  setRequest(request: ModelRequest): void {
    this.#span.updateName(nameOf(request))
    this.#span.setAttributes(requestAttributesOf(request, this.#writer, this.#capture.options.content))
  }

  get span(): Span {
    return this.#span
  }

  end({ response, body, stream, error, attributes, isTruncated = false, durationMs }: CallEnd): void {
    const span = this.#span
    const isRequestCut = this.#writer.isTruncated
    this.#writer.isTruncated = isTruncated
    const outputs = response === undefined ? {} : this.#outputs(response)
    const kept = body === undefined ? {} : this.#kept(body)
    const failure = error ?? response?.error
    span.setAttributes({
      ...attributes,
      ...outputs,
      ...kept,
      ...this.#streamed(stream),
      ...this.#failed(failure),
    })
    const cut = [...(isRequestCut ? ['messages'] : []), ...(this.#writer.isTruncated ? ['response'] : [])]
    if (cut.length > 0) span.setAttributes({ 'playhead.truncated': true, 'playhead.truncated.of': cut })
    if (failure !== undefined)
      span.setStatus({ code: SpanStatusCode.ERROR, message: this.#message(failure.message) })
    this.#capture.captured += 1
    if (response !== undefined) this.#capture.conversations.remember(span, this.#request, response)
    span.end(this.#startedAtMs + durationMs)
  }

  /** Ends the span of a call that can't be observed any further. */
  abandon(durationMs: number): void {
    this.#span.end(this.#startedAtMs + durationMs)
  }

  #outputs({ id, model, messages, finishReasons, usage, attributes }: ModelResponse): Attributes {
    return {
      ...(id !== undefined && { 'gen_ai.response.id': id }),
      ...(model !== undefined && { 'gen_ai.response.model': model }),
      ...(finishReasons.length > 0 && { 'gen_ai.response.finish_reasons': finishReasons }),
      ...usageAttributes(usage),
      ...attributes,
      ...(messages.length > 0 && { 'gen_ai.output.messages': this.#writer.messages(messages) }),
    }
  }

  #kept(body: JsonObject): Attributes {
    const json = this.#writer.response(body)
    return json === undefined ? {} : { 'playhead.response': json }
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

  /** A provider's message may quote the request. */
  #message(message: string): string {
    return this.#capture.options.content ? this.#writer.text(message) : ''
  }
}

function nameOf({ operation, model }: ModelRequest): string {
  return model === undefined ? operation : `${operation} ${model}`
}

/** What a span says about its request. */
export function requestAttributesOf(
  { operation, model, messages, system = [], tools = [], attributes }: ModelRequest,
  writer: ContentWriter,
  isContentKept: boolean,
): Attributes {
  return {
    'gen_ai.operation.name': operation,
    ...(model !== undefined && { 'gen_ai.request.model': model }),
    ...writeParameters(attributes, writer, isContentKept),
    ...(system.length > 0 && { 'gen_ai.system_instructions': writer.parts(system) }),
    ...(messages.length > 0 && { 'gen_ai.input.messages': writer.messages(messages) }),
    ...(tools.length > 0 && { 'gen_ai.tool.definitions': writer.tools(tools) }),
  }
}

function writeParameters(attributes: Attributes, writer: ContentWriter, isContentKept: boolean): Attributes {
  const copy = { ...attributes }
  for (const name of textAttributes) {
    const value = copy[name]
    if (value === undefined) continue
    if (!isContentKept) delete copy[name]
    else if (typeof value === 'string') copy[name] = writer.text(value)
    else if (Array.isArray(value)) copy[name] = value.map((item) => writer.text(String(item)))
  }
  return copy
}

export type HeaderReader = (name: string) => string | undefined

export function serverAttributes({ hostname, port, protocol }: URL): Attributes {
  return {
    'server.address': hostname,
    'server.port': port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  }
}

/** Some SDKs send their retry count, starting at 0. */
export function attemptAttributes(retryCount: string | undefined): Attributes {
  const retries = Number(retryCount ?? Number.NaN)
  if (!Number.isInteger(retries)) return {}
  return {
    'playhead.step.attempt': retries + 1,
    ...(retries > 0 && { 'http.request.resend_count': retries }),
  }
}

/** Keeps only the headers that help with support requests and retries. */
export function responseAttributes(status: number, header: HeaderReader): Attributes {
  const requestId = header('x-request-id') ?? header('request-id')
  return {
    'http.response.status_code': status,
    ...(requestId !== undefined && { 'http.response.header.x-request-id': [requestId] }),
    ...(status >= 400 && retryAttributes(header)),
  }
}

/** Whether and when clients ask again. */
function retryAttributes(header: HeaderReader): Attributes {
  const given = ['retry-after', 'x-should-retry'].flatMap((name): [string, string[]][] => {
    const value = header(name)
    return value === undefined ? [] : [[`http.response.header.${name}`, [value]]]
  })
  return Object.fromEntries(given)
}
