import { SpanKind, type HrTime } from '@opentelemetry/api'
import { emptyAttributes, type Attributes, type Span } from '@playhead/model'
import { toName } from '../value/host-value.ts'
import { validTime } from './clock.ts'
import type { SpanSanitizer } from './span-sanitizer.ts'
import { isParentRemote, parentIdOf, scopeOf, type RecordedSpan } from './recorded-span.ts'

/** Builds the span that the server would decode, so that the process sees exactly what it sends. */
export function toModelSpan(span: RecordedSpan, sanitizer: SpanSanitizer): Span {
  const { traceId, spanId } = span.spanContext()
  const scope = scopeOf(span)
  const given = sanitizer.begin(span)
  const name = sanitizer.text(span.name, 'name')
  const attributes = toAttributes(given, sanitizer)
  if (sanitizer.isTruncated) attributes['playhead.truncated'] = true
  return {
    traceId,
    spanId,
    parentSpanId: parentIdOf(span) ?? null,
    isParentRemote: isParentRemote(span),
    name,
    kind: (Number.isInteger(span.kind) ? span.kind : SpanKind.INTERNAL) + 1,
    startNs: toNanoseconds(span.startTime),
    endNs: span.ended ? toNanoseconds(span.endTime) : null,
    statusCode: span.status.code,
    statusMessage: sanitizer.text(span.status.message ?? '', 'message'),
    attributes,
    events: span.events.map((event) => ({
      name: sanitizer.text(event.name, 'name'),
      timeNs: toNanoseconds(event.time),
      attributes: sanitizer.areEventsKept
        ? toAttributes((event.attributes ?? {}) as Attributes, sanitizer)
        : {},
    })),
    links: span.links.map(({ context }) => ({
      traceId: context.traceId,
      spanId: context.spanId,
      attributes: emptyAttributes(),
    })),
    resource: resourceOf(span, sanitizer),
    scope: { name: toName(scope.name) ?? '', version: toName(scope.version) ?? '' },
  }
}

function toNanoseconds(time: HrTime): bigint {
  const [seconds, rest] = validTime(time)
  return BigInt(seconds) * 1_000_000_000n + BigInt(rest)
}

function toAttributes(source: Attributes, sanitizer: SpanSanitizer): Attributes {
  const attributes = emptyAttributes()
  for (const key of Object.keys(source)) {
    const raw: unknown = source[key]
    if (raw !== undefined) attributes[key] = sanitizer.value(key, raw)
  }
  return attributes
}

const resources = new WeakMap<object, Attributes>()

/** Spans share a resource, and the model caches by object identity. */
function resourceOf(span: RecordedSpan, sanitizer: SpanSanitizer): Attributes {
  let resource = resources.get(span.resource)
  if (resource === undefined) {
    resource = toAttributes(span.resource.attributes as Attributes, sanitizer)
    resources.set(span.resource, resource)
  }
  return resource
}
