import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { decodeTraces, formatOf } from './decode-otlp.ts'
import { spansToOtlpJson, type AttributeValue, type Span } from '@playhead/model'
import { spansToOtlpProtobuf } from '../otlp-protobuf/spans-to-otlp-protobuf.ts'
import { attributesOf, errorOf, spanWith, wireSpan } from '../test/sample-span.ts'

const fixtures = fileURLToPath(new URL('../../../../../fixtures/', import.meta.url))
const json = 'json'
const protobuf = 'protobuf'

function requestOf(...spans: unknown[]): Record<string, unknown> {
  return { resourceSpans: [{ scopeSpans: [{ spans }] }] }
}

function decodeJson(request: unknown) {
  return decodeTraces(Buffer.from(typeof request === 'string' ? request : JSON.stringify(request)), 'json')
}

describe('recorded requests', () => {
  const twins = globSync('otlp/*/*traces.bin', { cwd: fixtures })

  test.each(twins)('%s has the same spans in protobuf and in JSON', (path) => {
    const fromProtobuf = decodeTraces(readFileSync(fixtures + path), protobuf)
    const fromJson = decodeTraces(readFileSync(fixtures + path.replace(/bin$/, 'json')), json)
    expect(fromProtobuf).toEqual(fromJson)
    expect(fromProtobuf.items.length).toBeGreaterThan(5)
  })

  const otlpPaths = globSync('otlp/*/*traces.json', { cwd: fixtures }).sort()

  test.each(otlpPaths)('%s is decoded completely, and survives a round trip through protobuf', (path) => {
    const body = readFileSync(fixtures + path)
    const sent = (JSON.parse(body.toString()) as { resourceSpans: { scopeSpans: { spans: unknown[] }[] }[] })
      .resourceSpans
    const { items: spans, rejected } = decodeTraces(body, json)
    expect(spans).toHaveLength(
      sent.flatMap(({ scopeSpans }) => scopeSpans.flatMap((byScope) => byScope.spans)).length,
    )
    expect(rejected).toEqual([])
    const again = decodeTraces(spansToOtlpProtobuf(spans), protobuf).items
    expect(new Map(again.map((span) => [span.spanId, span]))).toEqual(
      new Map(spans.map((span) => [span.spanId, span])),
    )
  })

  const agentopsPaths = globSync('agentops-sdk/*/*v1_traces.body', { cwd: fixtures }).sort()

  test.each(agentopsPaths)('%s is decoded by the content type it was sent with', (path) => {
    const { headers } = JSON.parse(readFileSync(fixtures + path.replace(/body$/, 'json'), 'utf8')) as {
      headers: Record<string, string>
    }
    const body = readFileSync(fixtures + path)
    const format = formatOf(body, headers['Content-Type'] ?? '')
    const { items: spans, rejected } = decodeTraces(body, format)
    expect(spans.length).toBeGreaterThan(0)
    expect(rejected).toEqual([])
  })

  test('a span of AgentOps keeps its names, times, resource and scope to the nanosecond', () => {
    const { items: spans } = decodeTraces(
      readFileSync(`${fixtures}agentops-sdk/npm010/02-v1_traces.body`),
      json,
    )
    expect(spans.map(({ resource, ...span }) => ({ ...span, service: resource['service.name'] }))).toEqual([
      {
        traceId: 'ad14ddd83a5eeea73215ad4ad6e381bd',
        spanId: '85f4c7b8c4c150d3',
        parentSpanId: null,
        isParentRemote: false,
        name: 'Agent workflow',
        kind: 1,
        startNs: 1_794_736_075_146_000_000n,
        endNs: 1_794_736_075_146_200_368n,
        statusCode: 0,
        statusMessage: '',
        attributes: {},
        events: [],
        links: [],
        scope: { name: 'agentops', version: '0.1.0' },
        service: 'agentops',
      },
    ])
  })
})

describe('content types', () => {
  const body = spansToOtlpProtobuf([spanWith()])

  test.each([
    'application/x-protobuf',
    'application/protobuf',
    'application/vnd.google.protobuf',
    'Application/X-Protobuf; v=1',
    '',
  ])('protobuf is recognized as %j', (contentType) => {
    expect(formatOf(body, contentType)).toBe('protobuf')
  })

  test.each(['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON', ''])(
    'JSON is recognized as %j',
    (contentType) => {
      const text = Buffer.from(JSON.stringify(requestOf(wireSpan())))
      expect(formatOf(text, contentType)).toBe('json')
    },
  )

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/grpc'])(
    '%s is refused with a message that says what to send',
    (contentType) => {
      expect(errorOf(() => formatOf(body, contentType))).toMatchObject({
        code: 'UNSUPPORTED_MEDIA_TYPE',
        message: `The content type "${contentType}" is not OTLP: send application/x-protobuf or application/json.`,
      })
    },
  )
})

describe('an invalid span is named, and the rest of its batch is kept', () => {
  const before = spanWith({ name: 'before', spanId: '1111111111111111' })
  const after = spanWith({ name: 'after', spanId: '2222222222222222' })
  const year = 'times are nanoseconds since 1970-01-01 UTC'
  let nested: AttributeValue = 'deep'
  for (let depth = 0; depth < 65; depth++) nested = [nested]
  const many = Object.fromEntries(Array.from({ length: 16_385 }, (_, index) => [`key.${index}`, index]))

  const inBoth: [string, Partial<Span>, string, string][] = [
    ['no trace id', { traceId: '' }, 'span "chat" (b7ad6b7169203331)', 'it has no trace id'],
    [
      'a trace id of zeros',
      { traceId: '0'.repeat(32) },
      'span "chat" (b7ad6b7169203331)',
      'its trace id is all zeros',
    ],
    ['no span id', { spanId: '' }, 'span "chat"', 'it has no span id'],
    ['neither id nor name', { spanId: '', name: '' }, 'span #2', 'it has no span id'],
    ['no name', { name: '', traceId: '' }, 'span (b7ad6b7169203331)', 'it has no trace id'],
    [
      'a time in milliseconds',
      { startNs: 1_780_000_000_000n },
      'span "chat" (b7ad6b7169203331)',
      `its start time 1780000000000 is in the year 1970; ${year}`,
    ],
    [
      'an end in another century',
      { endNs: 7_258_118_400_000_000_000n },
      'span "chat" (b7ad6b7169203331)',
      `its end time 7258118400000000000 is in the year 2200; ${year}`,
    ],
    [
      'the largest possible time',
      { startNs: 2n ** 64n - 1n, endNs: null },
      'span "chat" (b7ad6b7169203331)',
      `its start time 18446744073709551615 is in the year 2554; ${year}`,
    ],
    [
      'no times',
      { startNs: 0n, endNs: null },
      'span "chat" (b7ad6b7169203331)',
      'it has neither a start nor an end time',
    ],
    [
      'an event with an impossible time',
      { events: [{ name: 'tick', timeNs: 5n, attributes: attributesOf() }] },
      'span "chat" (b7ad6b7169203331)',
      `the time of its event "tick", 5 is in the year 1970; ${year}`,
    ],
    [
      'a value that nests too deep',
      { attributes: attributesOf({ nested }) },
      'span "chat" (b7ad6b7169203331)',
      'an attribute nests more than 64 lists and maps',
    ],
    [
      'too many attributes',
      { attributes: attributesOf(many) },
      'span "chat" (b7ad6b7169203331)',
      'it has more than 16384 attributes',
    ],
    [
      'a name that is very long',
      { name: 'x'.repeat(1000), traceId: '' },
      `span "${'x'.repeat(80)}…" (b7ad6b7169203331)`,
      'it has no trace id',
    ],
  ]

  test.each(inBoth)('%s', (_, fields, item, reason) => {
    const batch = [before, spanWith(fields), after]
    const expected = { items: [before, after], rejected: [{ item, reason }] }
    expect(decodeTraces(spansToOtlpProtobuf(batch), protobuf)).toEqual(expected)
    expect(decodeJson(spansToOtlpJson(batch))).toEqual(expected)
  })

  test('a resource of 64 KB or more, which would be stored with each span', () => {
    const large = spanWith({ resource: attributesOf({ large: 'x'.repeat(65_537) }) })
    const fromProtobuf = decodeTraces(spansToOtlpProtobuf([before, large, after]), protobuf)
    const fromJson = decodeJson(spansToOtlpJson([before, large, after]))
    const rejected = (bytes: number) => [
      {
        item: 'span "chat" (b7ad6b7169203331)',
        reason: `its resource is invalid: it has ${bytes} bytes; the limit is 65536`,
      },
    ]
    expect(fromProtobuf).toEqual({ items: [before, after], rejected: rejected(65_556) })
    expect(fromJson).toEqual({ items: [before, after], rejected: rejected(65_542) })
  })

  test('64 nested lists and 16,384 attributes are allowed', () => {
    const allowed = attributesOf({ ...many, nested: (nested as AttributeValue[])[0] ?? null })
    delete allowed['key.0']
    delete allowed['key.1']
    const span = spanWith({ attributes: allowed })
    expect(decodeTraces(spansToOtlpProtobuf([span]), protobuf).items).toEqual([span])
    expect(decodeJson(spansToOtlpJson([span])).items).toEqual([span])
  })

  test('a prompt of 5 MB is stored; a span over 16 MB is rejected with the name of its largest attribute', () => {
    const prompt = spanWith({ attributes: attributesOf({ prompt: 'é'.repeat(2_500_000) }) })
    const large = spanWith({ attributes: attributesOf({ small: 'x', image: 'x'.repeat(20 * 1024 * 1024) }) })
    const rejected = [
      {
        item: 'span "chat" (b7ad6b7169203331)',
        reason: 'it has 20.0 MB; the limit is 16.0 MB. Its largest part, attribute "image", has 20.0 MB',
      },
    ]
    expect(decodeTraces(spansToOtlpProtobuf([prompt, large, after]), protobuf)).toEqual({
      items: [prompt, after],
      rejected,
    })
    expect(decodeJson(spansToOtlpJson([prompt, large, after]))).toEqual({
      items: [prompt, after],
      rejected,
    })
  })
})
