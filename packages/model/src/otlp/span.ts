/** The value of an OpenTelemetry attribute. Unsafe integers are decimal strings, bytes are base64. */
export type AttributeValue =
  | string
  | number
  | boolean
  | null
  | AttributeValue[]
  | { [key: string]: AttributeValue }

/** Attributes by key. Keys come from strangers, so these objects have no prototype. */
export type Attributes = { [key: string]: AttributeValue }

/** One decoded span. */
export type Span = {
  /** 32 lower-case hex digits. */
  traceId: string
  /** 16 lower-case hex digits (24 from OpenAI Agents' own exporter). */
  spanId: string
  parentSpanId: string | null
  /** True when the sender marked the parent as being in another process. */
  isParentRemote: boolean
  name: string
  /** OTLP's SpanKind number: 0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number
  startNs: bigint
  /** Absent while the span is still open. */
  endNs: bigint | null
  /** OTLP's status code: 0 unset, 1 ok, 2 error. */
  statusCode: number
  statusMessage: string
  attributes: Attributes
  events: SpanEvent[]
  links: SpanLink[]
  resource: Attributes
  scope: Scope
}

export type SpanEvent = { name: string; timeNs: bigint; attributes: Attributes }

export type SpanLink = { traceId: string; spanId: string; attributes: Attributes }

export type Scope = { name: string; version: string }

/** One decoded log record. `traceId` is never empty, because a record without a trace belongs to no session. */
export type LogRecord = {
  traceId: string
  /** The span it was written in, if the sender reported one. */
  spanId: string | null
  timeNs: bigint
  /** OTLP's severity text, or its number as a word ("info"); empty when unset. */
  severity: string
  /** OTLP's event name, or the attribute `event.name`; empty when it has none. */
  name: string
  body: AttributeValue
  attributes: Attributes
  resource: Attributes
  scope: Scope
}

/**
 * An object that inherits no keys, so that `__proto__` is a key like any other. Its prototype is an empty object and not null: V8 keeps
 * objects without a prototype as hash tables, which take three times as long to fill and to read, and 1.6 times to write as JSON.
 */
export function emptyAttributes(): Attributes {
  return new Bare()
}

const Bare = function () {} as unknown as new () => Attributes
Bare.prototype = Object.create(null) as object
