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

/** Span kinds start at 1 in OTLP, and at 0 in the API. */
const KIND_OFFSET = 1

type ScopeSpans = { scope: { name: string; version: string }; spans: ReturnType<typeof encodeSpan>[] }
type OtlpKeyValue = { key: string; value: OtlpValue }
type OtlpValue =
  | { stringValue: string }
  | { boolValue: boolean }
  | { intValue: number }
  | { doubleValue: number }
  | { arrayValue: { values: OtlpValue[] } }
  | { kvlistValue: { values: OtlpKeyValue[] } }
  | Record<string, never>

/** Encoded spans, and those that could not be encoded. */
export type Encoded = { text: string; failed: readonly FailedSpan[] }
export type FailedSpan = { span: RecordedSpan; error: unknown }

/**
 * Encodes spans as OTLP/JSON, directly from OpenTelemetry's objects. This runs for every step, and a detour through the
 * model's `Span` would take twice as long. A span that can't be encoded is left out; the others are not affected.
 */
export function encodeSpans(spans: readonly RecordedSpan[], sanitizer: SpanSanitizer): Encoded {
  try {
    return { text: encodeAll(spans, sanitizer), failed: [] }
  } catch (error) {
    if (spans.length === 1) return { text: '', failed: [{ span: spans[0]!, error }] }
    const failed = spans.flatMap((span) => encodeSpans([span], sanitizer).failed)
    const broken = new Set(failed.map(({ span }) => span))
    const healthy = spans.filter((span) => !broken.has(span))
    // Each alone but not together: there is no telling which one is to blame.
    if (broken.size === 0) return { text: '', failed: spans.map((span) => ({ span, error })) }
    const rest = encodeSpans(healthy, sanitizer)
    return { text: rest.text, failed: [...failed, ...rest.failed] }
  }
}

function encodeAll(spans: readonly RecordedSpan[], sanitizer: SpanSanitizer): string {
  const resources = new Map<RecordedSpan['resource'], Map<InstrumentationScope, ScopeSpans>>()
  for (const span of spans) {
    let scopes = resources.get(span.resource)
    if (scopes === undefined) resources.set(span.resource, (scopes = new Map()))
    const scope = scopeOf(span)
    let ofScope = scopes.get(scope)
    if (ofScope === undefined) scopes.set(scope, (ofScope = { scope: encodeScope(scope), spans: [] }))
    ofScope.spans.push(encodeSpan(span, sanitizer))
  }
  return JSON.stringify({
    resourceSpans: Array.from(resources, ([resource, scopes]) => ({
      resource: { attributes: encodeAttributes(resource.attributes as Attributes, sanitizer) },
      scopeSpans: [...scopes.values()],
    })),
  })
}

/** Undefined fields are omitted from the JSON. */
function encodeSpan(span: RecordedSpan, sanitizer: SpanSanitizer) {
  const { traceId, spanId } = span.spanContext()
  const { code, message } = span.status
  const attributes = encodeAttributes(sanitizer.begin(span), sanitizer)
  if (sanitizer.isTruncated) attributes.push({ key: 'playhead.truncated', value: { boolValue: true } })
  return {
    traceId,
    spanId,
    parentSpanId: parentIdOf(span),
    flags: isParentRemote(span) ? REMOTE_PARENT_FLAGS : undefined,
    name: sanitizer.text(span.name, 'name'),
    kind: (Number.isInteger(span.kind) ? span.kind : SpanKind.INTERNAL) + KIND_OFFSET,
    startTimeUnixNano: nanoseconds(span.startTime),
    endTimeUnixNano: span.ended ? nanoseconds(span.endTime) : undefined,
    attributes,
    events: span.events.length === 0 ? undefined : encodeEvents(span, sanitizer),
    links:
      span.links.length === 0
        ? undefined
        : span.links.flatMap(({ context }) =>
            context === undefined ? [] : { traceId: context.traceId, spanId: context.spanId },
          ),
    status:
      code === SpanStatusCode.UNSET
        ? undefined
        : { code, message: message === undefined ? undefined : sanitizer.text(message, 'message') },
  }
}

function encodeScope({ name, version }: InstrumentationScope): ScopeSpans['scope'] {
  return { name: toName(name) ?? '', version: toName(version) ?? '' }
}

/** Joins seconds and nanoseconds as text, because the number is too large for a double. */
function nanoseconds(time: HrTime): string {
  const [seconds, rest] = validTime(time)
  return rest >= 100_000_000 ? `${seconds}${rest}` : `${seconds}${String(rest).padStart(9, '0')}`
}

function encodeEvents(span: RecordedSpan, sanitizer: SpanSanitizer) {
  return span.events.map(({ name, time, attributes }) => ({
    timeUnixNano: nanoseconds(time),
    name: sanitizer.text(name, 'name'),
    attributes: sanitizer.areEventsKept ? encodeAttributes((attributes ?? {}) as Attributes, sanitizer) : [],
  }))
}

function encodeAttributes(attributes: Attributes, sanitizer: SpanSanitizer): OtlpKeyValue[] {
  const encoded: OtlpKeyValue[] = []
  for (const key of Object.keys(attributes)) {
    const raw: unknown = attributes[key]
    if (raw !== undefined) encoded.push({ key, value: encodeValue(sanitizer.value(key, raw)) })
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
