import { emptyAttributes, type Span } from '@playhead/model'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeTraces } from '../http/decode-otlp.ts'
import { spansToOtlpJson } from '@playhead/model'
import { spansToOtlpProtobuf } from './spans-to-otlp-protobuf.ts'
import { anySpans, fromEntries, resourceNamed } from '../test/arbitrary-span.ts'

function bySpanId(list: Span[]): Span[] {
  return list.toSorted((left, right) => (left.spanId < right.spanId ? -1 : 1))
}

function viaJson(list: Span[]) {
  return decodeTraces(Buffer.from(JSON.stringify(spansToOtlpJson(list))), 'json')
}

function viaProtobuf(list: Span[]) {
  return decodeTraces(spansToOtlpProtobuf(list), 'protobuf')
}

test('any spans survive a round trip through JSON and protobuf', () => {
  fc.assert(
    fc.property(anySpans, (list) => {
      const fromJson = viaJson(list)
      const fromProtobuf = viaProtobuf(list)
      expect(bySpanId(fromJson.items)).toEqual(bySpanId(list))
      expect(fromProtobuf.items).toEqual(fromJson.items)
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

test('OTLP JSON has integers as strings, ids in hex, and one entry per resource and scope', () => {
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

test("span and parent ids of OpenAI Agents' exporter are cut to the eight bytes of OTLP", () => {
  const child: Span = {
    ...openSpan,
    spanId: 'aaaaaaaaaaaaaaaabbbbbbbb',
    parentSpanId: 'ccccccccccccccccdddddddd',
  }
  const expected = [{ ...child, spanId: 'aaaaaaaaaaaaaaaa', parentSpanId: 'cccccccccccccccc' }]
  expect(viaJson([child]).items).toEqual(expected)
  expect(viaProtobuf([child]).items).toEqual(expected)
})
