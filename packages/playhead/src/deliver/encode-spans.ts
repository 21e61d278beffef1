import { Buffer } from 'node:buffer'
import { SpanKind, SpanStatusCode, type HrTime } from '@opentelemetry/api'
import { REMOTE_PARENT_FLAGS, type Attributes, type AttributeValue } from '@playhead/model'
import {
  isParentRemote,
  parentIdOf,
  scopeOf,
  type InstrumentationScope,
  type RecordedSpan,
} from '../record/opentelemetry/recorded-span.ts'
import { toName } from '../record/value/host-value.ts'
import { validTime } from '../record/opentelemetry/clock.ts'
import type { SpanSanitizer } from '../record/opentelemetry/span-sanitizer.ts'
import { ProtobufWriter } from './protobuf-writer.ts'

/** Span kinds start at 1 in OTLP, and at 0 in the API. */
const KIND_OFFSET = 1

const TRACE_ID_DIGITS = 32
const SPAN_ID_DIGITS = 16

/** Tags of opentelemetry-proto: eight times the number of the field, plus its wire type. */
const tags = {
  resourceSpans: 0x0a,
  resource: { message: 0x0a, attribute: 0x0a },
  scopeSpans: 0x12,
  scope: { message: 0x0a, name: 0x0a, version: 0x12 },
  span: {
    message: 0x12,
    traceId: 0x0a,
    spanId: 0x12,
    parentSpanId: 0x22,
    name: 0x2a,
    kind: 0x30,
    startTime: 0x39,
    endTime: 0x41,
    attribute: 0x4a,
    event: 0x5a,
    link: 0x6a,
    status: 0x7a,
    flags: 0x85,
  },
  event: { time: 0x09, name: 0x12, attribute: 0x1a },
  link: { traceId: 0x0a, spanId: 0x12 },
  status: { message: 0x12, code: 0x18 },
  keyValue: { key: 0x0a, value: 0x12 },
  anyValue: { text: 0x0a, boolean: 0x10, integer: 0x18, double: 0x21, list: 0x2a, map: 0x32 },
  list: { value: 0x0a },
  map: { entry: 0x0a },
} as const

/** The bytes that the length of most messages takes: of one with attributes, and of a small one. */
const ROOM = { large: 2, small: 1 }

/** Encoded spans, and those that could not be encoded. */
export type Encoded = { bytes: Uint8Array; failed: readonly FailedSpan[] }
export type FailedSpan = { span: RecordedSpan; error: unknown }

const INITIAL_BUFFER_BYTES = 256 * 1024
/** A larger buffer is not kept for the next batch. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024

/** The buffer of the last batch. Missing while one is encoded: a getter of the host may end the process, which encodes another. */
let spare: Buffer | undefined

/**
 * Encodes spans as OTLP, in protobuf, directly from OpenTelemetry's objects. This runs for every step: JSON or a detour
 * through the model's `Span` would take twice as long. A span that can't be encoded is left out; the others are not
 * affected.
 */
export function encodeSpans(spans: readonly RecordedSpan[], sanitizer: SpanSanitizer): Encoded {
  const writer = new ProtobufWriter(spare ?? Buffer.allocUnsafeSlow(INITIAL_BUFFER_BYTES))
  spare = undefined
  const encoder = new SpanEncoder(writer, sanitizer)
  for (const [resource, scopes] of groupByResource(spans)) encoder.writeResource(resource, scopes)
  const bytes = Buffer.from(writer.buffer.subarray(0, writer.position))
  if (writer.buffer.length <= MAX_KEPT_BYTES) spare = writer.buffer
  return { bytes, failed: encoder.failed }
}

type Resource = RecordedSpan['resource']
type ByScope = Map<InstrumentationScope, RecordedSpan[]>

function groupByResource(spans: readonly RecordedSpan[]): Map<Resource, ByScope> {
  const resources = new Map<Resource, ByScope>()
  for (const span of spans) {
    let scopes = resources.get(span.resource)
    if (scopes === undefined) resources.set(span.resource, (scopes = new Map()))
    const scope = scopeOf(span)
    const ofScope = scopes.get(scope)
    if (ofScope === undefined) scopes.set(scope, [span])
    else ofScope.push(span)
  }
  return resources
}

class SpanEncoder {
  readonly failed: FailedSpan[] = []
  readonly #writer: ProtobufWriter
  readonly #sanitizer: SpanSanitizer

  constructor(writer: ProtobufWriter, sanitizer: SpanSanitizer) {
    this.#writer = writer
    this.#sanitizer = sanitizer
  }

  writeResource(resource: Resource, scopes: ByScope): void {
    const writer = this.#writer
    const start = writer.begin(tags.resourceSpans, ROOM.large)
    const message = writer.begin(tags.resource.message, ROOM.large)
    this.#attributes(tags.resource.attribute, resource.attributes as Attributes)
    writer.end(message, ROOM.large)
    for (const [scope, spans] of scopes) this.#writeScope(scope, spans)
    writer.end(start, ROOM.large)
  }

  #writeScope(scope: InstrumentationScope, spans: readonly RecordedSpan[]): void {
    const writer = this.#writer
    const before = writer.position
    const start = writer.begin(tags.scopeSpans, ROOM.large)
    const message = writer.begin(tags.scope.message, ROOM.small)
    writer.text(tags.scope.name, toName(scope.name) ?? '')
    writer.text(tags.scope.version, toName(scope.version) ?? '')
    writer.end(message, ROOM.small)
    const empty = writer.position
    for (const span of spans) this.#tryToWrite(span)
    if (writer.position === empty) writer.position = before
    else writer.end(start, ROOM.large)
  }

  #tryToWrite(span: RecordedSpan): void {
    const before = this.#writer.position
    try {
      const start = this.#writer.begin(tags.span.message, ROOM.large)
      this.#writeSpan(span)
      this.#writer.end(start, ROOM.large)
    } catch (error) {
      this.#writer.position = before
      this.failed.push({ span, error })
    }
  }

  #writeSpan(span: RecordedSpan): void {
    const writer = this.#writer
    const sanitizer = this.#sanitizer
    const { traceId, spanId } = span.spanContext()
    const parentId = parentIdOf(span)
    const attributes = sanitizer.begin(span)
    writer.id(tags.span.traceId, traceId, TRACE_ID_DIGITS)
    writer.id(tags.span.spanId, spanId, SPAN_ID_DIGITS)
    if (parentId !== undefined) writer.id(tags.span.parentSpanId, parentId, SPAN_ID_DIGITS)
    writer.text(tags.span.name, sanitizer.text(span.name, 'name'))
    writer.integer(
      tags.span.kind,
      (Number.isInteger(span.kind) ? span.kind : SpanKind.INTERNAL) + KIND_OFFSET,
    )
    this.#time(tags.span.startTime, span.startTime)
    if (span.ended) this.#time(tags.span.endTime, span.endTime)
    this.#attributes(tags.span.attribute, attributes)
    if (sanitizer.isTruncated) this.#attribute(tags.span.attribute, 'playhead.truncated', true)
    if (span.events.length > 0) this.#events(span)
    if (span.links.length > 0) this.#links(span)
    this.#status(span)
    if (isParentRemote(span)) writer.fixed32(tags.span.flags, REMOTE_PARENT_FLAGS)
  }

  #time(tag: number, time: HrTime): void {
    const valid = validTime(time)
    this.#writer.time(tag, valid[0], valid[1])
  }

  #events({ events }: RecordedSpan): void {
    const writer = this.#writer
    for (const { name, time, attributes } of events) {
      const start = writer.begin(tags.span.event, ROOM.large)
      this.#time(tags.event.time, time)
      writer.text(tags.event.name, this.#sanitizer.text(name, 'name'))
      if (this.#sanitizer.areEventsKept)
        this.#attributes(tags.event.attribute, (attributes ?? {}) as Attributes)
      writer.end(start, ROOM.large)
    }
  }

  /** Tracers create links without ids from contexts that were never started. */
  #links({ links }: RecordedSpan): void {
    const writer = this.#writer
    for (const { context } of links) {
      const { traceId, spanId } = context ?? {}
      if (!isId(traceId, TRACE_ID_DIGITS) || !isId(spanId, SPAN_ID_DIGITS)) continue
      const start = writer.begin(tags.span.link, ROOM.small)
      writer.id(tags.link.traceId, traceId, TRACE_ID_DIGITS)
      writer.id(tags.link.spanId, spanId, SPAN_ID_DIGITS)
      writer.end(start, ROOM.small)
    }
  }

  #status({ status: { code, message } }: RecordedSpan): void {
    if (code === SpanStatusCode.UNSET || !Number.isInteger(code)) return
    const writer = this.#writer
    const start = writer.begin(tags.span.status, ROOM.small)
    if (message !== undefined) writer.text(tags.status.message, this.#sanitizer.text(message, 'message'))
    writer.integer(tags.status.code, code)
    writer.end(start, ROOM.small)
  }

  #attributes(tag: number, attributes: Attributes): void {
    for (const key of Object.keys(attributes)) {
      const raw: unknown = attributes[key]
      if (raw !== undefined) this.#attribute(tag, key, this.#sanitizer.value(key, raw))
    }
  }

  #attribute(tag: number, key: string, value: AttributeValue): void {
    const writer = this.#writer
    const encodedKey = encodeKey(key)
    if (typeof value === 'string') return writer.textAttribute(tag, encodedKey, value)
    const start = writer.begin(tag, ROOM.small)
    writer.bytes(encodedKey)
    const message = writer.begin(tags.keyValue.value, ROOM.small)
    this.#value(value)
    writer.end(message, ROOM.small)
    writer.end(start, ROOM.small)
  }

  #value(value: AttributeValue): void {
    const writer = this.#writer
    if (value === null) return
    if (typeof value === 'string') return writer.text(tags.anyValue.text, value)
    if (typeof value === 'boolean') return writer.integer(tags.anyValue.boolean, value ? 1 : 0)
    if (typeof value === 'number') return this.#number(value)
    const start = writer.begin(Array.isArray(value) ? tags.anyValue.list : tags.anyValue.map, ROOM.small)
    // A list may have holes.
    if (Array.isArray(value)) for (const item of value) this.#item(item ?? null)
    else for (const key of Object.keys(value)) this.#attribute(tags.map.entry, key, value[key]!)
    writer.end(start, ROOM.small)
  }

  #item(item: AttributeValue): void {
    const start = this.#writer.begin(tags.list.value, ROOM.small)
    this.#value(item)
    this.#writer.end(start, ROOM.small)
  }

  /** Servers leave out a double that is not finite; as text it is shown. */
  #number(value: number): void {
    if (Number.isSafeInteger(value)) this.#writer.integer(tags.anyValue.integer, value)
    else if (Number.isFinite(value)) this.#writer.double(tags.anyValue.double, value)
    else this.#writer.text(tags.anyValue.text, String(value))
  }
}

function isId(id: unknown, digits: number): id is string {
  return typeof id === 'string' && id.length === digits && /^[\da-f]*$/i.test(id)
}

/** Keys may come from untrusted input, so the cache is bounded. */
const MAX_CACHED_KEYS = 1024
const MAX_CACHED_LENGTH = 100
const encodedKeys = new Map<string, Uint8Array>()

/** The first field of a KeyValue. */
function encodeKey(key: string): Uint8Array {
  const known = encodedKeys.get(key)
  if (known !== undefined) return known
  const writer = new ProtobufWriter(Buffer.allocUnsafeSlow(MAX_CACHED_LENGTH))
  writer.text(tags.keyValue.key, key)
  const encoded = new Uint8Array(writer.buffer.subarray(0, writer.position))
  if (key.length > MAX_CACHED_LENGTH) return encoded
  if (encodedKeys.size >= MAX_CACHED_KEYS) encodedKeys.clear()
  encodedKeys.set(key, encoded)
  return encoded
}
