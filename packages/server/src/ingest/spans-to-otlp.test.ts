import type { Attributes, AttributeValue, Span } from '@playhead/model'
import { emptyAttributes } from '@playhead/model'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeTraces } from './decode-traces.ts'
import { MAX_TIME_NS, MIN_TIME_NS } from './limits.ts'
import { spansToOtlpJson } from '@playhead/model'
import { spansToOtlpProtobuf } from './spans-to-otlp-protobuf.ts'

const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary', maxLength: 300 }))
const number = fc
  .oneof(fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true }))
  .map((value) => value + 0)
const key = fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'toString', '0', '4294967295', ''))
const { bag } = fc.letrec<{ value: AttributeValue; bag: Attributes }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    text,
    fc.constant(null),
    fc.boolean(),
    number,
    fc.array(tie('value'), { maxLength: 4 }),
    tie('bag'),
  ),
  bag: fc
    .array(fc.tuple(key, tie('value')), { maxLength: 6 })
    .map((entries) => Object.assign(emptyAttributes(), fromEntries(entries))),
}))
const time = fc.bigInt({ min: MIN_TIME_NS, max: MAX_TIME_NS - 1n })
const idOf = (length: number) =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((list) => Buffer.from([1, ...list.slice(1)]).toString('hex'))
const span: fc.Arbitrary<Span> = fc
  .record({
    traceId: idOf(16),
    spanId: idOf(8),
    parentSpanId: fc.option(idOf(8)),
    isParentRemote: fc.boolean(),
    name: text,
    kind: fc.nat({ max: 5 }),
    startNs: time,
    lastsNs: fc.option(fc.bigInt({ min: 0n, max: 10n ** 15n })),
    statusCode: fc.nat({ max: 2 }),
    statusMessage: text,
    attributes: bag,
    events: fc.array(fc.record({ name: text, timeNs: time, attributes: bag }), { maxLength: 3 }),
    links: fc.array(fc.record({ traceId: idOf(16), spanId: idOf(8), attributes: bag }), { maxLength: 2 }),
    resource: fc.oneof(bag, fc.constantFrom(resourceNamed('a'), resourceNamed('b'))),
    scope: fc.record({ name: fc.constantFrom('', 'ai', 'genai'), version: fc.constantFrom('', '1.0') }),
  })
  .map(({ lastsNs, ...rest }) => ({ ...rest, endNs: endOf(rest.startNs, lastsNs) }))
const spans = fc.uniqueArray(span, { maxLength: 8, selector: ({ spanId }) => spanId })

function fromEntries(entries: [string, AttributeValue][]): Attributes {
  const attributes = emptyAttributes()
  for (const [name, entry] of entries) attributes[name] = entry
  return attributes
}

function resourceNamed(name: string): Attributes {
  return fromEntries([['service.name', name]])
}

function endOf(startNs: bigint, lastsNs: bigint | null): bigint | null {
  if (lastsNs === null) return null
  const endNs = startNs + lastsNs
  return endNs < MAX_TIME_NS ? endNs : MAX_TIME_NS - 1n
}

function bySpanId(list: Span[]): Span[] {
  return list.toSorted((left, right) => (left.spanId < right.spanId ? -1 : 1))
}

function viaJson(list: Span[]) {
  return decodeTraces(Buffer.from(JSON.stringify(spansToOtlpJson(list))), 'application/json')
}

function viaProtobuf(list: Span[]) {
  return decodeTraces(spansToOtlpProtobuf(list), 'application/x-protobuf')
}

test('any spans come back as they were from JSON and from protobuf', () => {
  fc.assert(
    fc.property(spans, (list) => {
      const fromJson = viaJson(list)
      const fromProtobuf = viaProtobuf(list)
      expect(bySpanId(fromJson.spans)).toEqual(bySpanId(list))
      expect(fromProtobuf.spans).toEqual(fromJson.spans)
      expect([...fromJson.rejected, ...fromProtobuf.rejected]).toEqual([])
    }),
    { numRuns: 300 },
  )
})

const openSpan: Span = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  parentSpanId: null,
  isParentRemote: false,
  name: 'chat',
  kind: 3,
  startNs: 1_780_000_000_123_456_789n,
  endNs: null,
  statusCode: 0,
  statusMessage: '',
  attributes: fromEntries([
    ['gen_ai.usage.input_tokens', 120],
    ['temperature', 0.7],
    ['tags', ['a', null]],
  ]),
  events: [],
  links: [],
  resource: resourceNamed('support-agent'),
  scope: { name: 'ai', version: '5' },
}

test('OTLP JSON has integers as strings, ids in hex, and one entry for each resource and scope', () => {
  const ended: Span = {
    ...openSpan,
    spanId: 'c7ad6b7169203331',
    parentSpanId: 'b7ad6b7169203331',
    isParentRemote: true,
    endNs: 1_780_000_000_123_456_790n,
    statusCode: 2,
    statusMessage: 'boom',
    attributes: emptyAttributes(),
    resource: resourceNamed('support-agent'),
  }
  expect(spansToOtlpJson([openSpan, ended])).toEqual({
    resourceSpans: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'support-agent' } }] },
        scopeSpans: [
          {
            scope: { name: 'ai', version: '5' },
            spans: [
              {
                traceId: '0af7651916cd43dd8448eb211c80319c',
                spanId: 'b7ad6b7169203331',
                name: 'chat',
                kind: 3,
                startTimeUnixNano: '1780000000123456789',
                attributes: [
                  { key: 'gen_ai.usage.input_tokens', value: { intValue: '120' } },
                  { key: 'temperature', value: { doubleValue: 0.7 } },
                  { key: 'tags', value: { arrayValue: { values: [{ stringValue: 'a' }, {}] } } },
                ],
                events: [],
                links: [],
                status: {},
              },
              {
                traceId: '0af7651916cd43dd8448eb211c80319c',
                spanId: 'c7ad6b7169203331',
                parentSpanId: 'b7ad6b7169203331',
                flags: 0x300,
                name: 'chat',
                kind: 3,
                startTimeUnixNano: '1780000000123456789',
                endTimeUnixNano: '1780000000123456790',
                attributes: [],
                events: [],
                links: [],
                status: { code: 2, message: 'boom' },
              },
            ],
          },
        ],
      },
    ],
  })
})

test("span ids of OpenAI Agents' own exporter are cut to the eight bytes that OTLP knows, parents with them", () => {
  const child: Span = {
    ...openSpan,
    spanId: 'aaaaaaaaaaaaaaaabbbbbbbb',
    parentSpanId: 'ccccccccccccccccdddddddd',
  }
  const expected = [{ ...child, spanId: 'aaaaaaaaaaaaaaaa', parentSpanId: 'cccccccccccccccc' }]
  expect(viaJson([child]).spans).toEqual(expected)
  expect(viaProtobuf([child]).spans).toEqual(expected)
})
