import type { Attributes, AttributeValue, Span } from '@playhead/model'
import { groupSpans } from './group-spans.ts'
import { ProtobufWriter } from './protobuf-writer.ts'
import { REMOTE_PARENT_FLAGS } from './settle-span.ts'

/** OTLP's JSON. Integers of 64 bits are strings, ids are hex, what has its default value is left out. */
export type OtlpTraces = { resourceSpans: OtlpResourceSpans[] }
type OtlpResourceSpans = { resource: { attributes: OtlpKeyValue[] }; scopeSpans: OtlpScopeSpans[] }
type OtlpScopeSpans = { scope: { name: string; version: string }; spans: OtlpSpan[] }
type OtlpSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  flags?: number
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano?: string
  attributes: OtlpKeyValue[]
  events: { timeUnixNano: string; name: string; attributes: OtlpKeyValue[] }[]
  links: { traceId: string; spanId: string; attributes: OtlpKeyValue[] }[]
  status: { code?: number; message?: string }
}
type OtlpKeyValue = { key: string; value: OtlpAnyValue }
type OtlpAnyValue =
  | { stringValue: string }
  | { boolValue: boolean }
  | { intValue: string }
  | { doubleValue: number }
  | { arrayValue: { values: OtlpAnyValue[] } }
  | { kvlistValue: { values: OtlpKeyValue[] } }
  | Record<string, never>

/** Spans as the JSON that any OpenTelemetry backend takes. */
export function spansToOtlpJson(spans: readonly Span[]): OtlpTraces {
  return {
    resourceSpans: groupSpans(spans).map(({ resource, scopes }) => ({
      resource: { attributes: toKeyValues(resource) },
      scopeSpans: scopes.map((ofScope) => ({
        scope: { name: ofScope.scope.name, version: ofScope.scope.version },
        spans: ofScope.spans.map(toOtlpSpan),
      })),
    })),
  }
}

function toOtlpSpan(span: Span): OtlpSpan {
  return {
    traceId: span.traceId,
    spanId: toSpanId(span.spanId),
    ...(span.parentSpanId === null ? {} : { parentSpanId: toSpanId(span.parentSpanId) }),
    ...(span.isParentRemote ? { flags: REMOTE_PARENT_FLAGS } : {}),
    name: span.name,
    kind: span.kind,
    startTimeUnixNano: String(span.startNs),
    ...(span.endNs === null ? {} : { endTimeUnixNano: String(span.endNs) }),
    attributes: toKeyValues(span.attributes),
    events: span.events.map(({ timeNs, name, attributes }) => ({
      timeUnixNano: String(timeNs),
      name,
      attributes: toKeyValues(attributes),
    })),
    links: span.links.map(({ traceId, spanId, attributes }) => ({
      traceId,
      spanId: toSpanId(spanId),
      attributes: toKeyValues(attributes),
    })),
    status: {
      ...(span.statusCode === 0 ? {} : { code: span.statusCode }),
      ...(span.statusMessage === '' ? {} : { message: span.statusMessage }),
    },
  }
}

/** OpenAI Agents' own exporter has ids of 12 bytes; OTLP knows 8, and those are as unique. */
function toSpanId(id: string): string {
  return id.slice(0, 16)
}

function toKeyValues(attributes: Attributes): OtlpKeyValue[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: toAnyValue(value) }))
}

function toAnyValue(value: AttributeValue): OtlpAnyValue {
  if (value === null) return {}
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  }
  if (Array.isArray(value)) return { arrayValue: { values: value.map(toAnyValue) } }
  return { kvlistValue: { values: toKeyValues(value) } }
}

/** Spans as the ExportTraceServiceRequest that any OpenTelemetry backend takes. */
export function spansToOtlpProtobuf(spans: readonly Span[]): Buffer {
  const writer = new ProtobufWriter()
  for (const { resource, scopes } of groupSpans(spans)) {
    writer.message(1, () => {
      writer.message(1, () => writeAttributes(writer, 1, resource))
      for (const ofScope of scopes) {
        writer.message(2, () => {
          writer.message(1, () => {
            writer.text(1, ofScope.scope.name)
            writer.text(2, ofScope.scope.version)
          })
          for (const span of ofScope.spans) writer.message(2, () => writeSpan(writer, span))
        })
      }
    })
  }
  return writer.finish()
}

function writeSpan(writer: ProtobufWriter, span: Span): void {
  writer.hex(1, span.traceId)
  writer.hex(2, toSpanId(span.spanId))
  if (span.parentSpanId !== null) writer.hex(4, toSpanId(span.parentSpanId))
  writer.text(5, span.name)
  writer.varint(6, span.kind)
  writer.fixed64(7, span.startNs)
  if (span.endNs !== null) writer.fixed64(8, span.endNs)
  writeAttributes(writer, 9, span.attributes)
  for (const { timeNs, name, attributes } of span.events) {
    writer.message(11, () => {
      writer.fixed64(1, timeNs)
      writer.text(2, name)
      writeAttributes(writer, 3, attributes)
    })
  }
  for (const { traceId, spanId, attributes } of span.links) {
    writer.message(13, () => {
      writer.hex(1, traceId)
      writer.hex(2, toSpanId(spanId))
      writeAttributes(writer, 4, attributes)
    })
  }
  writer.message(15, () => {
    if (span.statusMessage !== '') writer.text(2, span.statusMessage)
    if (span.statusCode !== 0) writer.varint(3, span.statusCode)
  })
  if (span.isParentRemote) writer.fixed32(16, REMOTE_PARENT_FLAGS)
}

function writeAttributes(writer: ProtobufWriter, field: number, attributes: Attributes): void {
  for (const [key, value] of Object.entries(attributes)) {
    writer.message(field, () => {
      writer.text(1, key)
      writer.message(2, () => writeAnyValue(writer, value))
    })
  }
}

function writeAnyValue(writer: ProtobufWriter, value: AttributeValue): void {
  if (value === null) return
  if (typeof value === 'string') writer.text(1, value)
  else if (typeof value === 'boolean') writer.varint(2, value ? 1 : 0)
  else if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) writer.int64(3, value)
    else writer.double(4, value)
  } else if (Array.isArray(value)) {
    writer.message(5, () => {
      for (const element of value) writer.message(1, () => writeAnyValue(writer, element))
    })
  } else writer.message(6, () => writeAttributes(writer, 1, value))
}
