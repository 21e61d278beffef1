import { describe, expect, test } from 'vitest'
import { spansToOtlpJson, type Attributes, type Span } from '@playhead/model'
import { spanWith } from '../src/ingest/test/sample-span.ts'
import {
  errorIn,
  MB,
  postJson,
  postProtobuf,
  server,
  testThatNothingWasLost,
  type Answer,
  useBadInputServer,
} from './bad-input.ts'
import { hex } from './otlp.ts'
import { jsonSpan, rawSpan, requestOf, spanBytes } from './wire-spans.ts'

useBadInputServer()

/** Posts a bad span between two good ones, reads the good ones back, and returns the rejection. */
async function postBetweenGoodOnes(
  bad: (good: Span) => Buffer | object,
  format: 'json' | 'protobuf',
): Promise<string> {
  const traceId = hex(16)
  const [first, last] = [spanWith({ traceId, spanId: hex(8) }), spanWith({ traceId, spanId: hex(8) })]
  const made = bad(spanWith({ traceId, spanId: hex(8), name: 'the bad one' }))
  const answer =
    format === 'protobuf'
      ? await postProtobuf(requestOf([spanBytes(first), made as Buffer, spanBytes(last)]))
      : await postJson({
          resourceSpans: [{ scopeSpans: [{ spans: [jsonSpan(first), made, jsonSpan(last)] }] }],
        })
  const { steps } = await server.session(traceId)
  expect(steps.map((step) => step.id).sort()).toEqual([first.spanId, last.spanId].sort())
  return rejectionIn(answer, format)
}

function rejectionIn(answer: Answer, format: 'json' | 'protobuf'): string {
  expect(answer.status).toBe(200)
  if (format === 'json') {
    const { partialSuccess } = JSON.parse(answer.text) as {
      partialSuccess: { rejectedSpans: string; errorMessage: string }
    }
    expect(partialSuccess.rejectedSpans).toBe('1')
    return partialSuccess.errorMessage
  }
  const bytes = Buffer.from(answer.text)
  // partial_success { rejected_spans = 1, error_message }
  expect(bytes.includes(Buffer.from([0x08, 0x01, 0x12]))).toBe(true)
  return bytes.subarray(bytes.indexOf('span ')).toString()
}

describe('an invalid span is named, and the rest of its batch is stored', () => {
  const deep = (levels: number): Attributes[string] => {
    let value: Attributes[string] = 'bottom'
    for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { inner: value }
    return value
  }
  const many = (count: number): Attributes =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`key ${index}`, index]))

  const cases: [string, (good: Span) => Partial<Span>, RegExp][] = [
    ['an attribute of 20 MB', () => ({ attributes: { prompt: 'x'.repeat(20 * MB) } }), /"prompt".*20\.0 MB/],
    ['values nested 1,000 deep', () => ({ attributes: { value: deep(1_000) } }), /64 lists and maps/],
    ['20,000 attributes', () => ({ attributes: many(20_000) }), /more than 16384 attributes/],
    ['a trace id of zeros', () => ({ traceId: '0'.repeat(32) }), /trace id is all zeros/],
    ['a span id of zeros', () => ({ spanId: '0'.repeat(16) }), /span id is all zeros/],
    ['a start in 1970', () => ({ startNs: 1n }), /in the year 1970/],
    ['an end in 2500', () => ({ endNs: BigInt(Date.UTC(2500, 0)) * 1_000_000n }), /in the year 2500/],
    ['no times', () => ({ startNs: 0n, endNs: null }), /neither a start nor an end/],
    [
      'an event in 2554',
      () => ({ events: [{ name: 'e', timeNs: 2n ** 64n - 1n, attributes: {} }] }),
      /event "e", .*in the year 2554/,
    ],
  ]
  for (const [what, change, reason] of cases) {
    test(`${what}, in protobuf and in JSON`, async () => {
      const messages = await Promise.all(
        (['protobuf', 'json'] as const).map((format) =>
          postBetweenGoodOnes((good) => {
            const span = { ...good, ...change(good) }
            return format === 'json' ? jsonSpan(span) : spanBytes(span)
          }, format),
        ),
      )
      for (const message of messages) {
        expect(message).toMatch(/^span "the bad one"/)
        expect(message).toMatch(reason)
      }
    }, 60_000)
  }

  test('ids of a wrong length', async () => {
    const inJson = [
      ['traceId', 'abcd'],
      ['traceId', hex(17)],
      ['spanId', hex(4)],
      ['spanId', 'not hex at all!!'],
      ['parentSpanId', hex(9)],
      ['traceId', 12],
      ['spanId', { a: 1 }],
    ] as const
    const inProtobuf = [
      [1, 3],
      [1, 20],
      [2, 7],
      [4, 1],
    ] as const
    const messages = await Promise.all([
      ...inJson.map(([field, id]) =>
        postBetweenGoodOnes((good) => ({ ...jsonSpan(good), [field]: id }), 'json'),
      ),
      ...inProtobuf.map(([field, bytes]) =>
        postBetweenGoodOnes((good) => {
          const ids: Record<number, string> = { 1: good.traceId, 2: good.spanId, [field]: hex(bytes) }
          return rawSpan((writer) => {
            for (const [number, id] of Object.entries(ids)) writer.hex(Number(number), id)
            writer.text(5, 'the bad one')
            writer.fixed64(7, good.startNs)
          })
        }, 'protobuf'),
      ),
    ])
    expect(messages).toHaveLength(11)
    for (const message of messages) expect(message).toMatch(/"the bad one".*its .* is not (8|16) bytes/)
  })

  test('times in the years 1 and 9999, from senders without a clock', async () => {
    const times = ['-62135596800000000000', '253402300799000000000', -1, 1e30, 'yesterday', [], true]
    const messages = await Promise.all(
      times.flatMap((time) =>
        ['startTimeUnixNano', 'endTimeUnixNano'].map((field) =>
          postBetweenGoodOnes((good) => ({ ...jsonSpan(good), [field]: time }), 'json'),
        ),
      ),
    )
    for (const message of messages)
      expect(message).toMatch(/"the bad one".*(nanoseconds since 1970|in the year)/)
    // Go's zero time as an unsigned 64-bit number.
    const zeroTime = BigInt.asUintN(64, -6_795_364_578_871_345_152n)
    expect(
      await postBetweenGoodOnes((good) => spanBytes({ ...good, startNs: zeroTime }), 'protobuf'),
    ).toMatch(/in the year 2339/)
  })

  test('a resource of 20 MB rejects the spans in it, and no others', async () => {
    const traceId = hex(16)
    const [inside, outside] = [hex(8), hex(8)]
    const answer = await postJson({
      resourceSpans: [
        ...spansToOtlpJson([
          spanWith({ traceId, spanId: inside, name: 'inside', resource: { huge: 'x'.repeat(20 * MB) } }),
        ]).resourceSpans,
        ...spansToOtlpJson([spanWith({ traceId, spanId: outside })]).resourceSpans,
      ],
    })
    expect(rejectionIn(answer, 'json')).toMatch(/span "inside".*resource/)
    expect((await server.session(traceId)).steps.map((step) => step.id)).toEqual([outside])
  })
})

describe("OpenAI Agents' own export", () => {
  const item = (fields: Record<string, unknown>) => ({
    object: 'trace.span',
    id: `span_${hex(12)}`,
    trace_id: `trace_${hex(16)}`,
    started_at: '2026-06-01T00:00:00Z',
    ended_at: '2026-06-01T00:00:01Z',
    span_data: { type: 'function', name: 'lookup' },
    ...fields,
  })

  test('items with impossible times are named, and concurrent requests are stored', async () => {
    const ids: string[] = []
    const good = async () => {
      const id = hex(16)
      ids.push(id)
      await server.postTraces(spansToOtlpJson([spanWith({ traceId: id, spanId: hex(8) })]))
    }
    const bad = (started_at: string) =>
      postJson({ data: [item({}), item({ started_at, ended_at: started_at })] }, '/v1/traces/ingest')
    const [, ...answers] = await Promise.all([
      Promise.all(Array.from({ length: 50 }, good)),
      ...['9999-12-31T23:59:59Z', '0001-01-01T00:00:00Z', '1969-12-31T23:59:59Z'].map(bad),
    ])
    for (const answer of answers) {
      expect(answer.status).toBe(200)
      expect(JSON.parse(answer.text)).toMatchObject({ rejected: [{ item: 'item 1' }] })
    }
    const listed = new Set((await server.allSessions()).map((session) => session.id))
    expect(ids.filter((id) => !listed.has(id))).toEqual([])
    expect(server.filesInFlight().filter((name) => name.endsWith('.rejected'))).toEqual([])
  })

  test('items that are too deep, too large or not objects are named or refused', async () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
    for (const data of [
      `[{"object":"trace.span","id":"a","trace_id":"b","span_data":{"type":"custom","data":${nested(100_000)}}}]`,
      `[{"object":"trace","id":"trace_x","metadata":${nested(1_000)}}]`,
      JSON.stringify([
        item({ span_data: { type: 'custom', name: 'huge', data: { text: 'x'.repeat(20 * MB) } } }),
      ]),
      JSON.stringify([null, 1, 'text', [], {}, { object: 'trace' }, { object: 'trace.span', id: 7 }]),
      nested(100_000),
    ]) {
      const answer = await postJson(`{"data":${data}}`, '/v1/traces/ingest')
      expect([200, 400]).toContain(answer.status)
      if (answer.status === 400) expect(errorIn(answer).code).toBe('OTLP_UNREADABLE')
    }
  })
})

testThatNothingWasLost()
