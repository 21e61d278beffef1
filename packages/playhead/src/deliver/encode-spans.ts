import { SpanStatusCode } from '@opentelemetry/api'
import { REMOTE_PARENT_FLAGS, type Attributes, type AttributeValue } from '@playhead/model'
import {
  isParentRemote,
  parentIdOf,
  scopeOf,
  type InstrumentationScope,
  type RecordedSpan,
} from '../record/opentelemetry/recorded-span.ts'
import type { OutgoingValues } from '../record/opentelemetry/outgoing-values.ts'

/** OTLP counts kinds from 1, the API from 0. */
const KIND_OFFSET = 1

type ScopeSpans = { scope: { name: string; version: string }; spans: OtlpSpan[] }
type OtlpKeyValue = { key: string; value: OtlpValue }
type OtlpValue =
  | { stringValue: string }
  | { boolValue: boolean }
  | { intValue: number }
  | { doubleValue: number }
  | { arrayValue: { values: OtlpValue[] } }
  | { kvlistValue: { values: OtlpKeyValue[] } }
  | Record<string, never>
type OtlpEvent = { timeUnixNano: string; name: string; attributes: OtlpKeyValue[] }
/** Fields that are undefined are not written. */
type OtlpSpan = {
  traceId: string
  spanId: string
  parentSpanId: string | undefined
  flags: number | undefined
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string | undefined
  attributes: OtlpKeyValue[]
  events: OtlpEvent[] | undefined
  links: { traceId: string; spanId: string }[] | undefined
  status: { code: number; message: string | undefined } | undefined
}

/**
 * Spans as OTLP/JSON, straight from OpenTelemetry's own objects: this runs for every step, and the way through the model's
 * `Span` takes twice as long.
 */
export function encodeSpans(spans: readonly RecordedSpan[], outgoing: OutgoingValues): string {
  const resources = new Map<RecordedSpan['resource'], Map<InstrumentationScope, ScopeSpans>>()
  for (const span of spans) {
    let scopes = resources.get(span.resource)
    if (scopes === undefined) resources.set(span.resource, (scopes = new Map()))
    const scope = scopeOf(span)
    let ofScope = scopes.get(scope)
    if (ofScope === undefined)
      scopes.set(scope, (ofScope = { scope: { name: scope.name, version: scope.version ?? '' }, spans: [] }))
    ofScope.spans.push(encodeSpan(span, outgoing))
  }
  return JSON.stringify({
    resourceSpans: Array.from(resources, ([resource, scopes]) => ({
      resource: { attributes: encodeAttributes(resource.attributes as Attributes, outgoing) },
      scopeSpans: [...scopes.values()],
    })),
  })
}

function encodeSpan(span: RecordedSpan, outgoing: OutgoingValues): OtlpSpan {
  const { traceId, spanId } = span.spanContext()
  const { code, message } = span.status
  const attributes = encodeAttributes(outgoing.begin(span), outgoing)
  if (outgoing.isCut) attributes.push({ key: 'playhead.truncated', value: { boolValue: true } })
  return {
    traceId,
    spanId,
    parentSpanId: parentIdOf(span),
    flags: isParentRemote(span) ? REMOTE_PARENT_FLAGS : undefined,
    name: outgoing.text(span.name, 'name'),
    kind: span.kind + KIND_OFFSET,
    startTimeUnixNano: nanoseconds(span.startTime),
    endTimeUnixNano: span.ended ? nanoseconds(span.endTime) : undefined,
    attributes,
    events: span.events.length === 0 ? undefined : encodeEvents(span, outgoing),
    links:
      span.links.length === 0
        ? undefined
        : span.links.map(({ context }) => ({ traceId: context.traceId, spanId: context.spanId })),
    status:
      code === SpanStatusCode.UNSET
        ? undefined
        : { code, message: message === undefined ? undefined : outgoing.text(message, 'message') },
  }
}

/** Seconds and nanoseconds as one number with all its digits. */
function nanoseconds([seconds, rest]: readonly [number, number]): string {
  return rest >= 100_000_000 ? `${seconds}${rest}` : `${seconds}${String(rest).padStart(9, '0')}`
}

function encodeEvents(span: RecordedSpan, outgoing: OutgoingValues): OtlpEvent[] {
  return span.events.map(({ name, time, attributes }) => ({
    timeUnixNano: nanoseconds(time),
    name: outgoing.text(name, 'name'),
    attributes: outgoing.areEventsKept ? encodeAttributes((attributes ?? {}) as Attributes, outgoing) : [],
  }))
}

function encodeAttributes(attributes: Attributes, outgoing: OutgoingValues): OtlpKeyValue[] {
  const encoded: OtlpKeyValue[] = []
  for (const key of Object.keys(attributes)) {
    const raw: unknown = attributes[key]
    if (raw !== undefined) encoded.push({ key, value: encodeValue(outgoing.value(key, raw)) })
  }
  return encoded
}

function encodeValue(value: AttributeValue): OtlpValue {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'number') return encodeNumber(value)
  if (typeof value === 'boolean') return { boolValue: value }
  if (value === null) return {}
  if (Array.isArray(value)) return { arrayValue: { values: value.map(encodeValue) } }
  const entries = Object.entries(value)
  return { kvlistValue: { values: entries.map(([key, item]) => ({ key, value: encodeValue(item) })) } }
}

/** JSON has neither NaN nor infinity. */
function encodeNumber(value: number): OtlpValue {
  if (Number.isSafeInteger(value)) return { intValue: value }
  return Number.isFinite(value) ? { doubleValue: value } : { stringValue: String(value) }
}
