import * as types from 'node:util/types'
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
import { readField, readFields, toName } from '../value/host-value.ts'
import { preciseNowMs, readTime, toHrTime } from './clock.ts'
import { SESSION, type InstrumentationScope, type RecordedSpan } from './recorded-span.ts'

/** Some instrumentation flattens conversations into thousands of attributes. */
const MAX_ATTRIBUTES = 4096
const MAX_EVENTS = 1024
const MAX_LINKS = 1024

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
  readonly instrumentationScope: InstrumentationScope;
  /** Declared, because an object to which a property is added later takes more memory. */
  [SESSION]: unknown = undefined
  readonly #context: SpanContext
  readonly #onEnd: (span: RecordedSpan) => void
  #attributeCount: number

  constructor(parts: SpanParts) {
    this.#context = parts.context
    this.name = nameOf(parts.name)
    this.kind = parts.kind
    this.parentSpanContext = parts.parentSpanContext
    this.startTime = timeOf(parts.startTime)
    this.endTime = this.startTime
    this.attributes = copyAttributes(parts.attributes)
    this.#attributeCount = Object.keys(this.attributes).length
    if (parts.links !== undefined) this.addLinks(parts.links)
    this.resource = parts.resource
    this.instrumentationScope = parts.scope
    this.#onEnd = parts.onEnd
  }

  spanContext(): SpanContext {
    return this.#context
  }

  setAttribute(key: string, value: unknown): this {
    const kept = this.ended || typeof key !== 'string' ? undefined : copyValue(value)
    if (kept === undefined) return this
    if (!Object.hasOwn(this.attributes, key)) {
      if (this.#attributeCount >= MAX_ATTRIBUTES) return this
      this.#attributeCount += 1
    }
    setOwn(this.attributes, key, kept)
    return this
  }

  setAttributes(attributes: Attributes): this {
    const kept = copyAttributes(attributes)
    for (const key of Object.keys(kept)) this.setAttribute(key, kept[key])
    return this
  }

  addEvent(name: string, attributesOrTime?: Attributes | TimeInput, time?: TimeInput): this {
    if (this.ended) return this
    const isTime = isTimeInput(attributesOrTime)
    const at = time ?? (isTime ? attributesOrTime : undefined)
    const attributes = isTime ? undefined : copyAttributes(attributesOrTime)
    const event = { name: nameOf(name), time: timeOf(at), ...(attributes !== undefined && { attributes }) }
    this.events = [...this.events.slice(1 - MAX_EVENTS), event]
    return this
  }

  addLink(link: Link): this {
    const copied = this.ended ? undefined : copyLink(link)
    if (copied !== undefined && this.links.length < MAX_LINKS) this.links = [...this.links, copied]
    return this
  }

  addLinks(links: readonly Link[]): this {
    for (let index = 0; isList(links) && index < links.length; index += 1)
      this.addLink(readField(links, String(index)) as Link)
    return this
  }

  /** `OK` is final; otherwise the last status counts. */
  setStatus(status: SpanStatus): this {
    const { code, message } = readFields(status, ['code', 'message'])
    if (code !== SpanStatusCode.OK && code !== SpanStatusCode.ERROR) return this
    if (this.ended || this.status.code === SpanStatusCode.OK) return this
    const hasMessage = code === SpanStatusCode.ERROR && typeof message === 'string'
    this.status = hasMessage ? { code, message } : { code }
    return this
  }

  updateName(name: string): this {
    if (!this.ended) this.name = nameOf(name)
    return this
  }

  recordException(exception: Exception, time?: TimeInput): void {
    if (typeof exception === 'string') {
      this.addEvent('exception', { 'exception.message': exception }, time)
      return
    }
    const { name, message, stack, code } = readFields(exception, ['name', 'message', 'stack', 'code'])
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
    const end = endTime === undefined ? toHrTime(preciseNowMs()) : timeOf(endTime)
    this.endTime = isBefore(end, this.startTime) ? this.startTime : end
    this.ended = true
    this.#onEnd(this)
  }
}

function nameOf(name: unknown): string {
  return typeof name === 'string' ? name : (toName(name) ?? '')
}

/** The time, or now if reading it throws. */
function timeOf(time: TimeInput | undefined): HrTime {
  try {
    return readTime(time)
  } catch {
    return toHrTime(preciseNowMs())
  }
}

/** Undefined for a link without ids. */
function copyLink(link: Link): Link | undefined {
  const { context, attributes } = readFields(link, ['context', 'attributes'])
  const { traceId, spanId, traceFlags } = readFields(context, ['traceId', 'spanId', 'traceFlags'])
  if (typeof traceId !== 'string' || typeof spanId !== 'string') return undefined
  return {
    context: { traceId, spanId, traceFlags: typeof traceFlags === 'number' ? traceFlags : 0 },
    ...(attributes !== undefined && { attributes: copyAttributes(attributes as Attributes) }),
  }
}

/** `Array.isArray` throws for a revoked proxy. */
function isList(value: unknown): boolean {
  return !types.isProxy(value) && Array.isArray(value)
}

function isBefore(time: HrTime, other: HrTime): boolean {
  return time[0] === other[0] ? time[1] < other[1] : time[0] < other[0]
}

function isTimeInput(value: unknown): value is TimeInput {
  return typeof value === 'number' || types.isDate(value) || isList(value)
}

/** Deeper values are dropped, which also stops at circular ones. */
const MAX_DEPTH = 16

/** Copies attributes and drops the values that OpenTelemetry does not allow. */
function copyAttributes(attributes: Attributes | undefined): Attributes {
  const copied: Attributes = {}
  if (typeof attributes !== 'object' || attributes === null) return copied
  for (const key of keysOf(attributes)) {
    const value = copyValue(readField(attributes, key))
    if (value !== undefined) setOwn(copied, key, value)
  }
  return copied
}

function keysOf(attributes: object): string[] {
  try {
    const keys = Object.keys(attributes)
    return keys.length > MAX_ATTRIBUTES ? keys.slice(0, MAX_ATTRIBUTES) : keys
  } catch {
    return []
  }
}

/** Not by assignment, which would change the prototype if the key is `__proto__`. */
function setOwn(attributes: Attributes, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(attributes, key, { value, enumerable: true })
  else (attributes as Record<string, unknown>)[key] = value
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
