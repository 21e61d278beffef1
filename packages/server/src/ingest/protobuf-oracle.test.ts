import { readFileSync } from 'node:fs'
import type { AttributeValue, LogRecord, Span } from '@playhead/model'
import { emptyAttributes } from '@playhead/model'
import * as fc from 'fast-check'
import protobuf from 'protobufjs'
import { describe, expect, test } from 'vitest'
import { KnownError } from '../http/known-error.ts'
import { decodeLogs } from './decode-logs.ts'
import { decodeTraces } from './decode-traces.ts'

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
const traceRequest = root.lookupType('ExportTraceServiceRequest')
const logsRequest = root.lookupType('ExportLogsServiceRequest')

const seconds2026 = 1_780_000_000
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc.string({ minLength: 90, maxLength: 200 }),
)
const bytes = fc.uint8Array({ maxLength: 40 }).map((list) => Buffer.from(list))
const int64 = fc
  .oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: -300n, max: 300n }))
  .map(String)
const time = fc
  .record({ second: fc.nat({ max: 100_000 }), nanosecond: fc.nat({ max: 999_999_999 }) })
  .map(({ second, nanosecond }) => String(BigInt(seconds2026 + second) * 1_000_000_000n + BigInt(nanosecond)))
const maybeTime = fc.oneof({ weight: 8, arbitrary: time }, { weight: 1, arbitrary: fc.constant('0') })
const idOf = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((list) => Buffer.from(list))
const maybeId = (length: number) =>
  fc.oneof(
    { weight: 12, arbitrary: idOf(length) },
    { weight: 1, arbitrary: fc.constant(Buffer.alloc(0)) },
    { weight: 1, arbitrary: fc.constant(Buffer.alloc(length)) },
  )
const anyValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    text.map((stringValue) => ({ stringValue })),
    fc.constant({}),
    fc.boolean().map((boolValue) => ({ boolValue })),
    int64.map((intValue) => ({ intValue })),
    fc.double().map((doubleValue) => ({ doubleValue })),
    bytes.map((bytesValue) => ({ bytesValue })),
    fc.array(tie('value'), { maxLength: 5 }).map((values) => ({ arrayValue: { values } })),
    fc.array(tie('pair'), { maxLength: 5 }).map((values) => ({ kvlistValue: { values } })),
  ),
  pair: fc.record({ key: text, value: tie('value'), futureFixed32: fc.nat() }, { requiredKeys: ['key'] }),
}))
const attributes = fc.array(anyValue.pair, { maxLength: 8 })
const scope = fc.record({ name: text, version: text, attributes })
const span = fc.record(
  {
    traceId: maybeId(16),
    spanId: maybeId(8),
    parentSpanId: maybeId(8),
    traceState: text,
    flags: fc.constantFrom(0, 1, 0x100, 0x101, 0x200, 0x300, 0x301),
    name: text,
    kind: fc.integer({ min: -1, max: 7 }),
    startTimeUnixNano: maybeTime,
    endTimeUnixNano: maybeTime,
    attributes,
    events: fc.array(fc.record({ timeUnixNano: maybeTime, name: text, attributes }), { maxLength: 3 }),
    links: fc.array(fc.record({ traceId: maybeId(16), spanId: maybeId(8), attributes }), { maxLength: 3 }),
    status: fc.record({ code: fc.integer({ min: -1, max: 4 }), message: text }, { requiredKeys: [] }),
    futureText: text,
    futureFixed64: int64,
    futureVarint: int64,
    futureFixed32: fc.nat(),
  },
  { requiredKeys: ['traceId', 'spanId', 'startTimeUnixNano'] },
)
const logRecord = fc.record(
  {
    traceId: maybeId(16),
    spanId: maybeId(8),
    timeUnixNano: maybeTime,
    observedTimeUnixNano: maybeTime,
    severityNumber: fc.integer({ min: -1, max: 26 }),
    severityText: text,
    eventName: text,
    body: anyValue.value,
    attributes: fc.oneof(
      attributes,
      text.map((name) => [{ key: 'event.name', value: { stringValue: name } }]),
    ),
  },
  { requiredKeys: [] },
)
const resource = fc.record({ attributes })
const traces = fc.record({
  resourceSpans: fc.array(
    fc.record({
      resource,
      scopeSpans: fc.array(fc.record({ scope, spans: fc.array(span, { maxLength: 4 }) }), { maxLength: 3 }),
    }),
    { maxLength: 3 },
  ),
})
const logs = fc.record({
  resourceLogs: fc.array(
    fc.record({
      resource,
      scopeLogs: fc.array(fc.record({ scope, logRecords: fc.array(logRecord, { maxLength: 4 }) }), {
        maxLength: 3,
      }),
    }),
    { maxLength: 3 },
  ),
})

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

function encode(type: protobuf.Type, message: object): Buffer {
  return Buffer.from(type.encode(type.fromObject(message)).finish())
}

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

function spansByOracle(body: Buffer): (Span | null)[] {
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

function logsByOracle(body: Buffer): (LogRecord | null)[] {
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

describe('our reader agrees with protobufjs', () => {
  test('on every span of any valid request', () => {
    fc.assert(
      fc.property(traces, (message) => {
        const body = encode(traceRequest, message)
        const expected = spansByOracle(body)
        const decoded = decodeTraces(body, 'application/x-protobuf')
        expect(decoded.spans).toEqual(expected.filter((expectedSpan) => expectedSpan !== null))
        expect(decoded.rejected).toHaveLength(expected.filter((expectedSpan) => expectedSpan === null).length)
      }),
      { numRuns: 400 },
    )
  })

  test('on every log record of any valid request', () => {
    fc.assert(
      fc.property(logs, (message) => {
        const body = encode(logsRequest, message)
        const expected = logsByOracle(body)
        const decoded = decodeLogs(body, 'application/x-protobuf')
        expect(decoded.records).toEqual(expected.filter((record) => record !== null))
        expect(decoded.rejected).toHaveLength(expected.filter((record) => record === null).length)
      }),
      { numRuns: 400 },
    )
  })

  test.each(['openinference-js', 'traceloop-0.27'])('on what %s sent', (folder) => {
    const path = new URL(`../../../../fixtures/otlp/${folder}/001-POST_v1_traces.bin`, import.meta.url)
    const body = readFileSync(path)
    expect(decodeTraces(body, 'application/x-protobuf')).toEqual({
      spans: spansByOracle(body),
      rejected: [],
      format: 'protobuf',
    })
  })
})

type Mutation = {
  kind: 'set' | 'insert' | 'delete' | 'cut' | 'copy'
  at: number
  byte: number
  length: number
}

const mutations: fc.Arbitrary<Mutation[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('set', 'insert', 'delete', 'cut', 'copy'),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    byte: fc.oneof(fc.nat({ max: 255 }), fc.constantFrom(0, 0x0a, 0x12, 0x7f, 0x80, 0xff)),
    length: fc.nat({ max: 12 }),
  }),
  { minLength: 1, maxLength: 6 },
)

function mutate(body: Buffer, changes: Mutation[]): Buffer {
  let bytesNow = body
  for (const { kind, at, byte, length } of changes) {
    const position = Math.floor(at * bytesNow.length)
    const before = bytesNow.subarray(0, position)
    const after = bytesNow.subarray(position)
    if (kind === 'set') bytesNow = Buffer.concat([before, Buffer.of(byte), after.subarray(1)])
    else if (kind === 'insert') bytesNow = Buffer.concat([before, Buffer.alloc(length, byte), after])
    else if (kind === 'delete') bytesNow = Buffer.concat([before, after.subarray(length)])
    else if (kind === 'copy') bytesNow = Buffer.concat([before, after.subarray(0, length), after])
    else bytesNow = before
  }
  return bytesNow
}

function outcomeOf(decode: () => { rejected: unknown[] }): 'decoded' | 'refused' {
  try {
    decode()
    return 'decoded'
  } catch (error) {
    if (error instanceof KnownError) return 'refused'
    throw error
  }
}

describe('damaged protobuf', () => {
  const outcome = expect.stringMatching(/^(decoded|refused)$/)

  test('of spans is decoded or refused, and nothing else happens', () => {
    fc.assert(
      fc.property(traces, mutations, (message, changes) => {
        const body = mutate(encode(traceRequest, message), changes)
        expect(outcomeOf(() => decodeTraces(body, 'application/x-protobuf'))).toEqual(outcome)
      }),
      { numRuns: 1000 },
    )
  })

  test('of log records is decoded or refused, and nothing else happens', () => {
    fc.assert(
      fc.property(logs, mutations, (message, changes) => {
        const body = mutate(encode(logsRequest, message), changes)
        expect(outcomeOf(() => decodeLogs(body, 'application/x-protobuf'))).toEqual(outcome)
      }),
      { numRuns: 1000 },
    )
  })

  test('that was noise from the start is decoded or refused, and nothing else happens', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (noise) => {
        expect(outcomeOf(() => decodeTraces(Buffer.from(noise), ''))).toEqual(outcome)
      }),
      { numRuns: 1000 },
    )
  })
})
