import * as fc from 'fast-check'

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
/** Any request with spans, as a protobufjs object. */
export const traces = fc.record({
  resourceSpans: fc.array(
    fc.record({
      resource,
      scopeSpans: fc.array(fc.record({ scope, spans: fc.array(span, { maxLength: 4 }) }), { maxLength: 3 }),
    }),
    { maxLength: 3 },
  ),
})
/** Any request with log records. */
export const logs = fc.record({
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
