/** A value an OpenTelemetry attribute can hold, as plain JavaScript. Unsafe integers are decimal strings, bytes are base64. */
export type AttributeValue =
  | string
  | number
  | boolean
  | null
  | AttributeValue[]
  | { [key: string]: AttributeValue }

/** Attributes by key. Keys come from strangers: objects of this type have no prototype. */
export type Attributes = { [key: string]: AttributeValue }

/** One span as it arrived, decoded and nothing more. The only thing a dialect reads. */
export type Span = {
  /** 32 lower-case hex digits. */
  traceId: string
  /** 16 lower-case hex digits (24 from OpenAI Agents' own exporter). */
  spanId: string
  parentSpanId: string | null
  /** True when the sender said that the parent lives in another process. */
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

/** One log record as it arrived. `traceId` is never empty: a record that belongs to no trace belongs to no session. */
export type LogRecord = {
  traceId: string
  /** The span it was written in; absent when the sender did not say. */
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

/** Attributes safe to fill with keys that a stranger chose (`__proto__` is a key like any other). */
export function emptyAttributes(): Attributes {
  return Object.create(null) as Attributes
}
