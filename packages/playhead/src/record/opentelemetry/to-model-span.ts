import { emptyAttributes, type Attributes, type Span } from '@playhead/model'
import type { OutgoingValues } from './outgoing-values.ts'
import { isParentRemote, parentIdOf, scopeOf, type RecordedSpan } from './recorded-span.ts'

/** The span that the server would decode: what is shown in the process is what leaves it. */
export function toModelSpan(span: RecordedSpan, outgoing: OutgoingValues): Span {
  const { traceId, spanId } = span.spanContext()
  const scope = scopeOf(span)
  const attributes = toAttributes(outgoing.begin(span), outgoing)
  if (outgoing.isCut) attributes['playhead.truncated'] = true
  return {
    traceId,
    spanId,
    parentSpanId: parentIdOf(span) ?? null,
    isParentRemote: isParentRemote(span),
    name: outgoing.text(span.name, 'name'),
    kind: span.kind + 1,
    startNs: toNanoseconds(span.startTime),
    endNs: span.ended ? toNanoseconds(span.endTime) : null,
    statusCode: span.status.code,
    statusMessage: outgoing.text(span.status.message ?? '', 'message'),
    attributes,
    events: span.events.map((event) => ({
      name: outgoing.text(event.name, 'name'),
      timeNs: toNanoseconds(event.time),
      attributes: outgoing.areEventsKept
        ? toAttributes((event.attributes ?? {}) as Attributes, outgoing)
        : {},
    })),
    links: span.links.map(({ context }) => ({
      traceId: context.traceId,
      spanId: context.spanId,
      attributes: emptyAttributes(),
    })),
    resource: resourceOf(span, outgoing),
    scope: { name: scope.name, version: scope.version ?? '' },
  }
}

function toNanoseconds([seconds, rest]: readonly [number, number]): bigint {
  return BigInt(seconds) * 1_000_000_000n + BigInt(rest)
}

function toAttributes(given: Attributes, outgoing: OutgoingValues): Attributes {
  const attributes = emptyAttributes()
  for (const key of Object.keys(given)) {
    const raw: unknown = given[key]
    if (raw !== undefined) attributes[key] = outgoing.value(key, raw)
  }
  return attributes
}

const resources = new WeakMap<object, Attributes>()

/** Spans share their resource, and the model remembers what a resource says by its object. */
function resourceOf(span: RecordedSpan, outgoing: OutgoingValues): Attributes {
  let resource = resources.get(span.resource)
  if (resource === undefined) {
    resource = toAttributes(span.resource.attributes as Attributes, outgoing)
    resources.set(span.resource, resource)
  }
  return resource
}
