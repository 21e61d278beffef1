import type { Attributes, AttributeValue, Span } from './span.ts'
import { groupSpans } from './group-spans.ts'

/** OTLP's span flags for a parent that is known to be in another process. */
export const REMOTE_PARENT_FLAGS = 0x300

/** OTLP as JSON: 64-bit integers are strings, ids are hex, default values are left out. */
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

/** Converts spans to OTLP JSON, which any OpenTelemetry backend accepts. */
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

/** Shortens the 12-byte ids of OpenAI Agents' exporter to the 8 bytes of OTLP. */
export function toSpanId(id: string): string {
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
