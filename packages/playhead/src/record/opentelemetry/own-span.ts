import {
  SpanStatusCode,
  type Attributes,
  type Exception,
  type HrTime,
  type Link,
  type Span,
  type SpanContext,
  type SpanStatus,
  type TimeInput,
} from '@opentelemetry/api'
import { preciseNowMs, readTime, toHrTime } from './clock.ts'
import type { InstrumentationScope, RecordedSpan } from './recorded-span.ts'

/** Some instrumentation flattens conversations into thousands of attributes. */
const MAX_ATTRIBUTES = 4096
const MAX_EVENTS = 1024

// Shared by the many spans that set nothing else.
const UNSET: SpanStatus = { code: SpanStatusCode.UNSET }
const NO_LINKS: readonly Link[] = []
const NO_EVENTS: readonly SpanEvent[] = []

type SpanEvent = { name: string; time: HrTime; attributes?: Attributes }

export type SpanParts = {
  context: SpanContext
  name: string
  kind: number
  parentSpanContext: SpanContext | undefined
  startTime: TimeInput | undefined
  attributes: Attributes | undefined
  links: readonly Link[] | undefined
  resource: RecordedSpan['resource']
  scope: InstrumentationScope
  onEnd: (span: RecordedSpan) => void
}

/**
 * A span of our own provider. It follows OpenTelemetry's API at half the cost of its SDK. Third-party instrumentation
 * uses it too, so no input may make it throw.
 */
export class OwnSpan implements Span, RecordedSpan {
  name: string
  readonly kind: number
  readonly parentSpanContext: SpanContext | undefined
  readonly startTime: HrTime
  endTime: HrTime
  ended = false
  status = UNSET
  readonly attributes: Attributes
  links = NO_LINKS
  events = NO_EVENTS
  readonly resource: RecordedSpan['resource']
  readonly instrumentationScope: InstrumentationScope
  readonly #context: SpanContext
  readonly #onEnd: (span: RecordedSpan) => void
  #attributeCount: number

  constructor(parts: SpanParts) {
    this.#context = parts.context
    this.name = parts.name
    this.kind = parts.kind
    this.parentSpanContext = parts.parentSpanContext
    this.startTime = readTime(parts.startTime)
    this.endTime = this.startTime
    this.attributes = copyAttributes(parts.attributes)
    this.#attributeCount = Object.keys(this.attributes).length
    if (parts.links !== undefined) this.links = parts.links.map(copyLink)
    this.resource = parts.resource
    this.instrumentationScope = parts.scope
    this.#onEnd = parts.onEnd
  }

  spanContext(): SpanContext {
    return this.#context
  }

  setAttribute(key: string, value: unknown): this {
    const kept = this.ended ? undefined : copyValue(value)
    if (kept === undefined) return this
    if (!(key in this.attributes)) {
      if (this.#attributeCount >= MAX_ATTRIBUTES) return this
      this.#attributeCount += 1
    }
    this.attributes[key] = kept
    return this
  }

  setAttributes(attributes: Attributes): this {
    for (const key of Object.keys(attributes ?? {})) this.setAttribute(key, attributes[key])
    return this
  }

  addEvent(name: string, attributesOrTime?: Attributes | TimeInput, time?: TimeInput): this {
    if (this.ended) return this
    const isTime = isTimeInput(attributesOrTime)
    const at = time ?? (isTime ? attributesOrTime : undefined)
    const attributes = isTime ? undefined : copyAttributes(attributesOrTime)
    const event = { name, time: readTime(at), ...(attributes !== undefined && { attributes }) }
    this.events = [...this.events.slice(1 - MAX_EVENTS), event]
    return this
  }

  addLink(link: Link): this {
    if (!this.ended) this.links = [...this.links, copyLink(link)]
    return this
  }

  addLinks(links: Link[]): this {
    for (const link of links) this.addLink(link)
    return this
  }

  /** `OK` is final; otherwise the last status counts. */
  setStatus({ code, message }: SpanStatus): this {
    if (this.ended || code === SpanStatusCode.UNSET || this.status.code === SpanStatusCode.OK) return this
    const hasMessage = code === SpanStatusCode.ERROR && typeof message === 'string'
    this.status = hasMessage ? { code, message } : { code }
    return this
  }

  updateName(name: string): this {
    if (!this.ended) this.name = name
    return this
  }

  recordException(exception: Exception, time?: TimeInput): void {
    if (typeof exception === 'string') {
      this.addEvent('exception', { 'exception.message': exception }, time)
      return
    }
    const { name, message, stack, code } = Object(exception) as { [key: string]: unknown }
    const type = code ?? name
    this.addEvent(
      'exception',
      {
        'exception.type': typeof type === 'string' || typeof type === 'number' ? String(type) : 'Error',
        ...(typeof message === 'string' && { 'exception.message': message }),
        ...(typeof stack === 'string' && { 'exception.stacktrace': stack }),
      },
      time,
    )
  }

  isRecording(): boolean {
    return !this.ended
  }

  end(endTime?: TimeInput): void {
    if (this.ended) return
    const end = endTime === undefined ? toHrTime(preciseNowMs()) : readTime(endTime)
    this.endTime = isBefore(end, this.startTime) ? this.startTime : end
    this.ended = true
    this.#onEnd(this)
  }
}

function copyLink({ context, attributes }: Link): Link {
  return { context, ...(attributes !== undefined && { attributes: copyAttributes(attributes) }) }
}

function isBefore([seconds, rest]: HrTime, [otherSeconds, otherRest]: HrTime): boolean {
  return seconds === otherSeconds ? rest < otherRest : seconds < otherSeconds
}

function isTimeInput(value: unknown): value is TimeInput {
  return typeof value === 'number' || value instanceof Date || Array.isArray(value)
}

/** Deeper values are dropped, which also stops at circular ones. */
const MAX_DEPTH = 16

/** Copies attributes and drops the values that OpenTelemetry does not allow. */
function copyAttributes(attributes: Attributes | undefined): Attributes {
  const copied: Attributes = {}
  if (typeof attributes !== 'object' || attributes === null) return copied
  for (const key of Object.keys(attributes)) {
    const value = copyValue(attributes[key])
    if (value !== undefined) copied[key] = value
  }
  return copied
}

/** Copies a value, because the host may change it later; undefined if it is not allowed. */
function copyValue(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'boolean':
      return value
    case 'object':
      return tryToCopy(value)
    default:
      return undefined
  }
}

function tryToCopy(value: object | null): unknown {
  try {
    return copy(value, 0)
  } catch {
    return undefined
  }
}

function copy(value: unknown, depth: number): unknown {
  if (typeof value === 'bigint' || typeof value === 'symbol' || typeof value === 'function') return undefined
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  if (depth >= MAX_DEPTH) return undefined
  if (Array.isArray(value)) return value.map((item) => copy(item, depth + 1))
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return undefined
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, item]) => [key, copy(item, depth + 1)] as const)
      .filter(([, item]) => item !== undefined),
  )
}
