import {
  emptyAttributes,
  type Attributes,
  type Scope,
  type Span,
  type SpanEvent,
  type SpanLink,
} from '@playhead/model'
import { JsonWriter } from '../../log/json-writer.ts'
import { DecodedSpan } from '../../store/decoded-span.ts'
import type { Batch } from '../rejection.ts'
import { chargeHeap } from '../heap-budget.ts'
import { isMissingId, isSpanId, isTraceId, SPAN_ID_BYTES, TRACE_ID_BYTES } from '../ids.ts'
import { CONTAINER_HEAP_BYTES } from '../limits.ts'
import { decodeProtobufBatch, type ProtobufItems } from './protobuf-batch.ts'
import type { ProtobufReader } from './protobuf-reader.ts'
import { copyAttribute, readAttribute, readId } from './protobuf-values.ts'
import { isParentRemote, normalizeSpan } from '../normalize-span.ts'

const protobufSpans: ProtobufItems<Span> = {
  noun: 'span',
  messages: {
    request: 'ExportTraceServiceRequest',
    byResource: 'ResourceSpans',
    byScope: 'ScopeSpans',
    item: 'Span',
  },
  tags: { id: 0x12, name: 0x2a, attribute: 0x4a },
  read: readSpan,
  normalize: normalizeSpan,
}
const copiedSpans: ProtobufItems<Span> = { ...protobufSpans, read: copySpan }

/** Of a larger body, the JSON of all spans would need much memory at once. */
const MAX_WRITTEN_BYTES = 4 * 1024 * 1024

/**
 * Used again for every request, because memory outside of the heap is expensive to allocate and to collect. A request becomes rows
 * before the next one is decoded; what comes later finds that the text is gone.
 */
const attributesJson = new JsonWriter()

/** Decodes an ExportTraceServiceRequest. */
export function decodeProtobufTraces(body: Buffer): Batch<Span> {
  attributesJson.clear()
  return decodeProtobufBatch(body, body.length > MAX_WRITTEN_BYTES ? protobufSpans : copiedSpans)
}

function readSpan(reader: ProtobufReader, resource: Attributes, scope: Scope): Span {
  chargeHeap(reader.heap, 2 * CONTAINER_HEAP_BYTES)
  const span = new DecodedSpan(resource, scope)
  let count = 0
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === 0x4a) readAttribute(reader, span.attributes, ++count)
    else readSpanField(reader, span, tag)
  }
  return span
}

/** As `readSpan`, and writes the JSON of the attributes. */
function copySpan(reader: ProtobufReader, resource: Attributes, scope: Scope): Span {
  chargeHeap(reader.heap, 2 * CONTAINER_HEAP_BYTES)
  const span = new DecodedSpan(resource, scope)
  const json = attributesJson
  let count = 0
  let isWhole = true
  json.begin(reader.view)
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag !== 0x4a) readSpanField(reader, span, tag)
    else if (!copyAttribute(reader, span.attributes, { count: ++count, json })) isWhole = false
  }
  // A key that came twice would be there twice.
  if (isWhole && Object.keys(span.attributes).length === count) span.noteAttributesJson(json.end())
  return span
}

function readSpanField(reader: ProtobufReader, span: Span, tag: number): void {
  switch (tag) {
    case 0x0a:
      span.traceId = readId(reader, 'trace id', TRACE_ID_BYTES)
      break
    case 0x12:
      span.spanId = readId(reader, 'span id', SPAN_ID_BYTES)
      break
    case 0x22:
      span.parentSpanId = readParentSpanId(reader)
      break
    case 0x2a:
      span.name = reader.readKey()
      break
    case 0x30:
      span.kind = reader.readVarint()
      break
    case 0x39:
      span.startNs = reader.readFixed64()
      break
    case 0x41:
      span.endNs = reader.readFixed64()
      break
    case 0x5a:
      span.events.push(readEvent(reader))
      break
    case 0x6a:
      readLink(reader, span.links)
      break
    case 0x7a:
      readStatus(reader, span)
      break
    case 0x85:
      span.isParentRemote = isParentRemote(reader.readFixed32())
      break
    default:
      reader.skip(tag)
  }
}

function readParentSpanId(reader: ProtobufReader): string | null {
  const id = readId(reader, 'parent span id', SPAN_ID_BYTES)
  return isMissingId(id) ? null : id
}

function readEvent(reader: ProtobufReader): SpanEvent {
  chargeHeap(reader.heap, CONTAINER_HEAP_BYTES)
  const event: SpanEvent = { name: '', timeNs: 0n, attributes: emptyAttributes() }
  let attributeCount = 0
  reader.enter('Event')
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === 0x09) event.timeNs = reader.readFixed64()
    else if (tag === 0x12) event.name = reader.readKey()
    else if (tag === 0x1a) readAttribute(reader, event.attributes, ++attributeCount)
    else reader.skip(tag)
  }
  reader.leave()
  return event
}

/** Drops links without ids: tracers create them from contexts that were never started. */
function readLink(reader: ProtobufReader, links: SpanLink[]): void {
  chargeHeap(reader.heap, CONTAINER_HEAP_BYTES)
  const link: SpanLink = { traceId: '', spanId: '', attributes: emptyAttributes() }
  let attributeCount = 0
  reader.enter('Link')
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === 0x0a) link.traceId = reader.readHex()
    else if (tag === 0x12) link.spanId = reader.readHex()
    else if (tag === 0x22) readAttribute(reader, link.attributes, ++attributeCount)
    else reader.skip(tag)
  }
  reader.leave()
  if (isTraceId(link.traceId) && isSpanId(link.spanId)) links.push(link)
}

function readStatus(reader: ProtobufReader, span: Span): void {
  reader.enter('Status')
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === 0x12) span.statusMessage = reader.readString()
    else if (tag === 0x18) span.statusCode = reader.readVarint()
    else reader.skip(tag)
  }
  reader.leave()
}
