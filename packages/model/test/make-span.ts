import { emptyAttributes, type Attributes, type LogRecord, type Span } from '../src/otlp/span.ts'

export type SpanShape = Partial<Omit<Span, 'attributes' | 'resource' | 'scope' | 'events'>> & {
  attributes?: Record<string, unknown>
  resource?: Record<string, unknown>
  /** A scope's name, or its name and version as `name@version`. */
  scope?: string
  events?: { name: string; attributes?: Record<string, unknown> }[]
}

const START_NS = 1_794_736_302_000_000_000n

/** A span of one second with the given fields. */
export function makeSpan(shape: SpanShape): Span {
  const { attributes, resource, scope = '', events = [], ...rest } = shape
  const at = scope.lastIndexOf('@')
  return {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    parentSpanId: '00f067aa0ba902b7',
    isParentRemote: false,
    name: 'span',
    kind: 1,
    startNs: START_NS,
    endNs: START_NS + 1_000_000_000n,
    statusCode: 0,
    statusMessage: '',
    links: [],
    ...rest,
    attributes: toAttributes(attributes),
    resource: toAttributes(resource),
    scope: at > 0 ? { name: scope.slice(0, at), version: scope.slice(at + 1) } : { name: scope, version: '' },
    events: events.map((event) => ({
      name: event.name,
      timeNs: START_NS,
      attributes: toAttributes(event.attributes),
    })),
  }
}

export type LogShape = Partial<Omit<LogRecord, 'attributes' | 'resource' | 'scope'>> & {
  attributes?: Record<string, unknown>
  scope?: string
}

export function makeLog({ attributes, scope = '', ...rest }: LogShape): LogRecord {
  return {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    timeNs: START_NS,
    severity: '',
    name: '',
    body: null,
    resource: emptyAttributes(),
    ...rest,
    attributes: toAttributes(attributes),
    scope: { name: scope, version: '' },
  }
}

function toAttributes(record: Record<string, unknown> = {}): Attributes {
  return Object.assign(emptyAttributes(), record)
}
