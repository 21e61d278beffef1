import { emptyAttributes, type AttributeValue, type LogRecord, type Span } from '@playhead/model'
import protobuf from 'protobufjs'

/** From opentelemetry-proto 1.9; the `future_` fields stand for what later versions may add. */
const proto = `
syntax = "proto3";
message ExportTraceServiceRequest { repeated ResourceSpans resource_spans = 1; }
message ExportLogsServiceRequest { repeated ResourceLogs resource_logs = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; string schema_url = 3; }
message ResourceLogs { Resource resource = 1; repeated ScopeLogs scope_logs = 2; string schema_url = 3; }
message ScopeSpans { InstrumentationScope scope = 1; repeated Span spans = 2; string schema_url = 3; }
message ScopeLogs { InstrumentationScope scope = 1; repeated LogRecord log_records = 2; string schema_url = 3; }
message Resource { repeated KeyValue attributes = 1; uint32 dropped_attributes_count = 2; }
message InstrumentationScope {
  string name = 1; string version = 2; repeated KeyValue attributes = 3; uint32 dropped_attributes_count = 4;
}
message Span {
  bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; fixed32 flags = 16;
  string name = 5; int32 kind = 6; fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
  repeated KeyValue attributes = 9; uint32 dropped_attributes_count = 10;
  repeated Event events = 11; uint32 dropped_events_count = 12;
  repeated Link links = 13; uint32 dropped_links_count = 14; Status status = 15;
  message Event {
    fixed64 time_unix_nano = 1; string name = 2; repeated KeyValue attributes = 3; uint32 dropped_attributes_count = 4;
  }
  message Link {
    bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; repeated KeyValue attributes = 4;
    uint32 dropped_attributes_count = 5; fixed32 flags = 6;
  }
  string future_text = 1000; fixed64 future_fixed64 = 1001; sint64 future_varint = 1002; float future_fixed32 = 1003;
}
message Status { string message = 2; int32 code = 3; }
message LogRecord {
  fixed64 time_unix_nano = 1; fixed64 observed_time_unix_nano = 11; int32 severity_number = 2; string severity_text = 3;
  AnyValue body = 5; repeated KeyValue attributes = 6; uint32 dropped_attributes_count = 7; fixed32 flags = 8;
  bytes trace_id = 9; bytes span_id = 10; string event_name = 12;
}
message AnyValue {
  oneof value {
    string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4;
    ArrayValue array_value = 5; KeyValueList kvlist_value = 6; bytes bytes_value = 7;
  }
}
message ArrayValue { repeated AnyValue values = 1; }
message KeyValueList { repeated KeyValue values = 1; }
message KeyValue { string key = 1; AnyValue value = 2; fixed32 future_fixed32 = 1000; }
`
const root = protobuf.parse(proto).root
export const traceRequest = root.lookupType('ExportTraceServiceRequest')
export const logsRequest = root.lookupType('ExportLogsServiceRequest')

export function encode(type: protobuf.Type, message: object): Buffer {
  return Buffer.from(type.encode(type.fromObject(message)).finish())
}

type Bag = { key: string; value: Any | null }[]
type Any = { value?: string } & Record<string, unknown>
type WireSpan = {
  traceId: Buffer
  spanId: Buffer
  parentSpanId: Buffer
  flags: number
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: Bag
  events: { timeUnixNano: string; name: string; attributes: Bag }[]
  links: { traceId: Buffer; spanId: Buffer; attributes: Bag }[]
  status: { code: number; message: string } | null
}
type WireLog = {
  traceId: Buffer
  spanId: Buffer
  timeUnixNano: string
  observedTimeUnixNano: string
  severityNumber: number
  severityText: string
  eventName: string
  body: Any | null
  attributes: Bag
}
type WireScope = { name: string; version: string } | null

function readByOracle(type: protobuf.Type, body: Buffer): unknown {
  return type.toObject(type.decode(body), { longs: String, defaults: true, oneofs: true, bytes: Buffer })
}

function plainValue(any: Any | null): AttributeValue | undefined {
  switch (any?.value) {
    case 'intValue': {
      const integer = Number(any.intValue)
      return Number.isSafeInteger(integer) ? integer : String(any.intValue)
    }
    case 'doubleValue':
      return Number.isFinite(any.doubleValue) ? Number(any.doubleValue) + 0 : undefined
    case 'bytesValue':
      return Buffer.from(any.bytesValue as Uint8Array).toString('base64')
    case 'arrayValue':
      return (any.arrayValue as { values: Any[] }).values.map((element) => plainValue(element) ?? null)
    case 'kvlistValue':
      return plainAttributes((any.kvlistValue as { values: Bag }).values)
    default:
      return any?.value === undefined ? null : (any[any.value] as AttributeValue)
  }
}

function plainAttributes(bag: Bag): Record<string, AttributeValue> {
  const plain = emptyAttributes()
  for (const { key, value } of bag) {
    const read = plainValue(value)
    if (read !== undefined) plain[key] = read
  }
  return plain
}

const hex = (id: Uint8Array) => Buffer.from(id).toString('hex')
const isMissing = (id: Uint8Array) => id.every((byte) => byte === 0)

export function spansByOracle(body: Buffer): (Span | null)[] {
  type Request = {
    resourceSpans: {
      resource: { attributes: Bag } | null
      scopeSpans: { scope: WireScope; spans: WireSpan[] }[]
    }[]
  }
  const request = readByOracle(traceRequest, body) as Request
  return request.resourceSpans.flatMap((byResource) =>
    byResource.scopeSpans.flatMap((byScope) =>
      byScope.spans.map((wire) =>
        plainSpan(wire, plainAttributes(byResource.resource?.attributes ?? []), byScope.scope),
      ),
    ),
  )
}

function plainSpan(wire: WireSpan, resourceAttributes: Span['resource'], wireScope: WireScope): Span | null {
  const start = BigInt(wire.startTimeUnixNano)
  const end = BigInt(wire.endTimeUnixNano)
  const startNs = start === 0n ? end : start
  if (isMissing(wire.traceId) || isMissing(wire.spanId) || startNs === 0n) return null
  return {
    traceId: hex(wire.traceId),
    spanId: hex(wire.spanId),
    parentSpanId: isMissing(wire.parentSpanId) ? null : hex(wire.parentSpanId),
    isParentRemote: [0x300, 0x301].includes(wire.flags),
    name: wire.name,
    kind: wire.kind >= 0 && wire.kind <= 5 ? wire.kind : 0,
    startNs,
    endNs: end === 0n ? null : end < startNs ? startNs : end,
    statusCode: [1, 2].includes(wire.status?.code ?? 0) ? (wire.status?.code ?? 0) : 0,
    statusMessage: wire.status?.message ?? '',
    attributes: plainAttributes(wire.attributes),
    events: wire.events.map((event) => ({
      name: event.name,
      timeNs: event.timeUnixNano === '0' ? startNs : BigInt(event.timeUnixNano),
      attributes: plainAttributes(event.attributes),
    })),
    links: wire.links
      .filter((link) => !isMissing(link.traceId) && !isMissing(link.spanId))
      .map((link) => ({
        traceId: hex(link.traceId),
        spanId: hex(link.spanId),
        attributes: plainAttributes(link.attributes),
      })),
    resource: resourceAttributes,
    scope: { name: wireScope?.name ?? '', version: wireScope?.version ?? '' },
  }
}

export function logsByOracle(body: Buffer): (LogRecord | null)[] {
  type Request = {
    resourceLogs: {
      resource: { attributes: Bag } | null
      scopeLogs: { scope: WireScope; logRecords: WireLog[] }[]
    }[]
  }
  const request = readByOracle(logsRequest, body) as Request
  return request.resourceLogs.flatMap((byResource) =>
    byResource.scopeLogs.flatMap((byScope) =>
      byScope.logRecords.map((wire) =>
        plainLog(wire, plainAttributes(byResource.resource?.attributes ?? []), byScope.scope),
      ),
    ),
  )
}

function plainLog(
  wire: WireLog,
  resourceAttributes: Span['resource'],
  wireScope: WireScope,
): LogRecord | null {
  const timeNs = BigInt(wire.timeUnixNano === '0' ? wire.observedTimeUnixNano : wire.timeUnixNano)
  if (timeNs === 0n) return null
  const words = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']
  const recordAttributes = plainAttributes(wire.attributes)
  const named = recordAttributes['event.name']
  return {
    traceId: isMissing(wire.traceId) ? '' : hex(wire.traceId),
    spanId: isMissing(wire.spanId) ? null : hex(wire.spanId),
    timeNs,
    severity: wire.severityText || (words[Math.ceil(wire.severityNumber / 4) - 1] ?? ''),
    name: wire.eventName || (typeof named === 'string' ? named : ''),
    body: plainValue(wire.body) ?? null,
    attributes: recordAttributes,
    resource: resourceAttributes,
    scope: { name: wireScope?.name ?? '', version: wireScope?.version ?? '' },
  }
}
