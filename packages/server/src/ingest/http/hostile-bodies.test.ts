import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { KnownError } from '../../errors/known-error.ts'
import { decodeLogs } from './decode-otlp.ts'
import { decodeTraces } from './decode-otlp.ts'
import { ProtobufWriter } from '../otlp-protobuf/protobuf-writer.ts'
import { errorOf, spanWith, wireSpan } from '../test/sample-span.ts'

const MB = 1024 * 1024
const json = 'json'
const protobuf = 'protobuf'

/** Repeats bytes as often as they fit. */
function repeated(bytes: Buffer, total: number): Buffer {
  return Buffer.alloc(total - (total % bytes.length), bytes)
}

/** A length-delimited field. */
function field(number: number, ...content: Buffer[]): Buffer {
  const bytes = Buffer.concat(content)
  const writer = new ProtobufWriter()
  writer.tag(number, 2)
  writer.rawVarint(bytes.length)
  return Buffer.concat([writer.finish(), bytes])
}

function goodFields(): Buffer {
  const writer = new ProtobufWriter()
  writer.hex(1, '0af7651916cd43dd8448eb211c80319c')
  writer.hex(2, 'b7ad6b7169203331')
  writer.text(5, 'chat')
  writer.varint(6, 3)
  writer.fixed64(7, 1_780_000_000_000_000_000n)
  writer.fixed64(8, 1_780_000_001_000_000_000n)
  return writer.finish()
}

function requestOf(...spans: Buffer[]): Buffer {
  return field(1, field(2, ...spans))
}

const goodSpan = field(2, goodFields())
const attribute = (value: Buffer) => field(9, field(1, Buffer.from('k')), field(2, value))
const event = Buffer.of(0x5a, 0)
const emptyValue = Buffer.of(0x0a, 0)
const emptyMap = Buffer.of(0x0a, 2, 0x32, 0)

describe('few bytes that would take a lot of memory', () => {
  let heapBefore = 0
  beforeEach(() => {
    heapBefore = process.memoryUsage().heapUsed
  })
  afterEach(() => {
    const grown = process.memoryUsage().heapUsed - heapBefore
    if (grown > 500 * MB) throw new Error(`the heap grew by ${grown / MB} MB`)
  })

  const tooMuch = {
    item: 'span "chat" (b7ad6b7169203331)',
    reason: 'its lists, maps and events take more than 64 MB',
  }

  test.each([
    ['seven million empty events', field(2, goodFields(), repeated(event, 14 * MB))],
    [
      'a list of seven million nulls',
      field(2, goodFields(), attribute(field(5, repeated(emptyValue, 14 * MB)))),
    ],
    [
      'a list of three million maps',
      field(2, goodFields(), attribute(field(5, repeated(emptyMap, 14 * MB)))),
    ],
  ])('a span with %s is rejected, and the spans around it are kept', (_, bomb) => {
    expect(decodeTraces(requestOf(goodSpan, bomb, bomb, goodSpan), protobuf)).toEqual({
      items: [spanWith(), spanWith()],
      rejected: [tooMuch, tooMuch],
    })
  })

  test.each([
    ['resources', repeated(Buffer.of(0x0a, 0), 16 * MB)],
    ['scopes', field(1, repeated(Buffer.of(0x12, 0), 16 * MB))],
  ])('millions of empty %s are refused', (_, body) => {
    expect(errorOf(() => decodeTraces(body, protobuf))).toMatchObject({
      code: 'OTLP_UNREADABLE',
      message:
        'The body is not valid OTLP protobuf: the lists, maps and events of the request take more than 256 MB: send smaller batches. Nothing was stored.',
    })
  })

  test('millions of empty spans are refused, and the first is named', () => {
    const message =
      'More than 16384 items of this request are invalid; the first is span #1: it has no trace id. Nothing was stored.'
    const inProtobuf = requestOf(repeated(Buffer.of(0x12, 0), 16 * MB))
    const inJson = `{"resourceSpans":[{"scopeSpans":[{"spans":[${'{},'.repeat(20_000)}{}]}]}]}`
    expect(errorOf(() => decodeTraces(inProtobuf, protobuf))).toMatchObject({
      code: 'OTLP_UNREADABLE',
      message,
    })
    expect(errorOf(() => decodeTraces(Buffer.from(inJson), json))).toMatchObject({
      code: 'OTLP_UNREADABLE',
      message,
    })
  })

  test('JSON with millions of objects is refused before it is parsed', () => {
    const body = Buffer.concat([Buffer.from('['), repeated(Buffer.from('{},'), 30 * MB), Buffer.from('{}]')])
    expect(errorOf(() => decodeTraces(body, json))).toMatchObject({
      code: 'BODY_TOO_LARGE',
      message: 'The JSON has 10485762 objects and lists; the limit is 4194304: send smaller batches.',
    })
  })

  test('brackets and quotes inside strings are not counted', () => {
    const stringValue = '[{"\\'.repeat(1_500_000)
    const request = {
      resourceSpans: [{ scopeSpans: [{ spans: [wireSpan({ status: { message: stringValue } })] }] }],
    }
    expect(decodeTraces(Buffer.from(JSON.stringify(request)), json).items).toEqual([
      spanWith({ statusMessage: stringValue }),
    ])
  })

  test('half a million nested lists are refused wherever they are', () => {
    const deep = '['.repeat(500_000) + ']'.repeat(500_000)
    const chat = 'span "chat" (b7ad6b7169203331)'
    const spanJson = (fields: string) => `{${JSON.stringify(wireSpan()).slice(1, -1)},${fields}}`
    const cases: [string, string, string][] = [
      [spanJson(`"traceId":${deep}`), chat, 'its trace id (a list) is not 16 bytes'],
      [spanJson(`"name":${deep}`), 'span (b7ad6b7169203331)', 'its name is a list, not a string'],
      [
        spanJson(`"startTimeUnixNano":${deep}`),
        chat,
        'its start time is a list, not nanoseconds since 1970-01-01 UTC',
      ],
      [spanJson(`"attributes":${deep}`), chat, 'an attribute is a list, not an object'],
      [
        spanJson(`"attributes":[{"key":"a","value":{"intValue":${deep}}}]`),
        chat,
        'the value of "a" is a list, not an integer',
      ],
    ]
    const body = `{"resourceSpans":[{"scopeSpans":[{"spans":[${cases.map(([span]) => span).join(',')}]}]}]}`
    expect(decodeTraces(Buffer.from(body), json)).toEqual({
      items: [],
      rejected: cases.map(([, item, reason]) => ({ item, reason })),
    })
    const kindAndFlags = `{"resourceSpans":[{"scopeSpans":[{"spans":[${spanJson(`"kind":${deep},"flags":${deep}`)}]}]}]}`
    expect(decodeTraces(Buffer.from(kindAndFlags), json).items).toEqual([spanWith({ kind: 0 })])
    expect(errorOf(() => decodeTraces(Buffer.from(deep), json))).toMatchObject({ code: 'OTLP_UNREADABLE' })
    expect(errorOf(() => decodeTraces(Buffer.from(deep.slice(0, -1)), json))).toMatchObject({
      code: 'OTLP_UNREADABLE',
    })
  })
})

const names = [
  'resourceSpans resourceLogs resource_spans scopeSpans scopeLogs scope_logs spans logRecords resource scope attributes',
  'key value stringValue intValue doubleValue boolValue arrayValue kvlistValue bytesValue values traceId spanId trace_id',
  'parentSpanId startTimeUnixNano endTimeUnixNano timeUnixNano observedTimeUnixNano events links status code message',
  'name version kind flags body severityNumber severityText eventName low high type data __proto__ constructor',
].flatMap((line) => line.split(' '))

/** JSON with OTLP's names in wrong places, and some in the right ones. */
const { value: nearlyOtlp } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 9, depthSize: 'large' },
    fc.constantFrom(null, true, 0, -1, 1.5, 1e300, 1780000000000000000, '', 'a', '1780000000000000000'),
    fc.constantFrom('0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331', 'NaN', 'Infinity', '{"a":1}'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 6 }),
  ),
}))
const skeletons = fc.oneof(
  nearlyOtlp,
  nearlyOtlp.map((resourceSpans) => ({ resourceSpans })),
  fc.array(nearlyOtlp).map((spans) => ({ resourceSpans: [{ scopeSpans: [{ spans }] }] })),
  fc.array(nearlyOtlp).map((logRecords) => ({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] })),
  fc.dictionary(fc.constantFrom(...names), nearlyOtlp).map((fields) => ({
    resourceSpans: [{ scopeSpans: [{ spans: [wireSpan(fields)] }] }],
  })),
)

function outcomeOf(decode: () => unknown): 'decoded' | 'refused' {
  const error = errorOf(decode)
  if (error === undefined) return 'decoded'
  if (error instanceof KnownError) return 'refused'
  throw error
}

test('JSON of any shape is decoded or refused, never anything else', () => {
  fc.assert(
    fc.property(skeletons, (request) => {
      const body = Buffer.from(JSON.stringify(request))
      for (const decode of [decodeTraces, decodeLogs]) {
        expect(outcomeOf(() => decode(body, json))).toMatch(/^(decoded|refused)$/)
      }
    }),
    { numRuns: 1000 },
  )
})

test('damaged JSON is decoded or refused, never anything else', () => {
  const damage = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.string({ maxLength: 3 })), {
    minLength: 1,
    maxLength: 4,
  })
  fc.assert(
    fc.property(skeletons, damage, (request, changes) => {
      let text = JSON.stringify(request)
      for (const [at, insert] of changes) {
        const position = Math.floor(at * text.length)
        text = text.slice(0, position) + insert + text.slice(position + 1)
      }
      expect(outcomeOf(() => decodeTraces(Buffer.from(text), json))).toMatch(/^(decoded|refused)$/)
    }),
    { numRuns: 1000 },
  )
})
