import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Attributes, Span } from '@playhead/model'
import { spansToOtlpJson } from '@playhead/model'
import { ProtobufWriter } from '../src/ingest/protobuf-writer.ts'
import { spansToOtlpProtobuf } from '../src/ingest/spans-to-otlp-protobuf.ts'
import { spanWith } from '../src/ingest/test/sample-span.ts'
import { hex } from './otlp.ts'
import { forgetPeak, memoryOf, SpawnedServer } from './spawned-server.ts'

const MB = 1024 * 1024
const JSON_TYPE = 'application/json'
const PROTOBUF_TYPE = 'application/x-protobuf'

/** Far above what any of these needs, far below what one of them could ask for. */
const MAX_RESIDENT_MB = 2_000

let server: SpawnedServer

beforeAll(async () => {
  server = await SpawnedServer.create()
  await server.start()
}, 90_000)
afterAll(() => server.remove(), 60_000)

beforeEach(() => forgetPeak(server.pid))
afterEach(async ({ task }) => {
  expectAliveAndBounded(task.name)
  await postNormalSession()
}, 60_000)

function expectAliveAndBounded(what: string): void {
  expect(server.isAlive()).toBe(true)
  const { peakMb, nowMb } = memoryOf(server.pid)
  console.log(`${peakMb} MB at most, ${nowMb} MB now: ${what}`)
  expect(peakMb).toBeLessThan(MAX_RESIDENT_MB)
}

type Answer = { status: number; headers: Headers; text: string }

async function post(
  body: Buffer | string,
  headers: Record<string, string>,
  path = '/v1/traces',
): Promise<Answer> {
  const response = await server.request(path, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : new Uint8Array(body),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const postJson = (body: unknown, path?: string) =>
  post(typeof body === 'string' ? body : JSON.stringify(body), { 'content-type': JSON_TYPE }, path)
const postProtobuf = (body: Buffer, path?: string) => post(body, { 'content-type': PROTOBUF_TYPE }, path)

/** `status` and `code` of an error in the shape that JSON requests get; the message has to say something. */
function errorIn(answer: Answer): { status: number; code: string; message: string } {
  const { error } = JSON.parse(answer.text) as { error: { code: string; message: string } }
  expect(error.message.length).toBeGreaterThan(20)
  return { status: answer.status, code: error.code, message: error.message }
}

/** The same for protobuf: google.rpc.Status, whose message is field 2. */
function statusIn(answer: Answer): { status: number; contentType: string | null; message: string } {
  const bytes = Buffer.from(answer.text)
  expect(bytes[0]).toBe(0x12)
  return {
    status: answer.status,
    contentType: answer.headers.get('content-type'),
    message: bytes.subarray(bytes.length < 130 ? 2 : 3).toString(),
  }
}

/** Ids of normal sessions and of their spans, one sent after each test; the last test reads them all back. */
const normalSessions = new Map<string, string[]>()

/** A normal session is taken, whatever came before. */
async function postNormalSession(): Promise<void> {
  const traceId = hex(16)
  const spans = [
    spanWith({ traceId, spanId: hex(8), name: 'agent' }),
    spanWith({
      traceId,
      spanId: hex(8),
      name: 'chat gpt-4o',
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'gpt-4o',
        'gen_ai.usage.input_tokens': 11,
        'gen_ai.usage.output_tokens': 7,
      },
    }),
  ]
  const answers = [
    await postProtobuf(spansToOtlpProtobuf(spans.slice(0, 1))),
    await postJson(spansToOtlpJson(spans.slice(1))),
  ]
  expect(answers.map(({ status, text }) => [status, text])).toEqual([
    [200, ''],
    [200, '{}'],
  ])
  normalSessions.set(
    traceId,
    spans.map((span) => span.spanId),
  )
}

/** Posts a bad span between two good ones; returns what is said of it, having read the good ones back. */
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

function jsonSpan(span: Span): Record<string, unknown> {
  const [resource] = spansToOtlpJson([span]).resourceSpans
  return { ...resource!.scopeSpans[0]!.spans[0] }
}

/** The bytes of one span without what lies around it. */
function spanBytes(span: Span): Buffer {
  const bytes = spansToOtlpProtobuf([span])
  const marker = Buffer.concat([Buffer.from([0x0a, 0x10]), Buffer.from(span.traceId, 'hex')])
  return bytes.subarray(bytes.indexOf(marker))
}

function requestOf(spans: Buffer[], resource?: () => void): Buffer {
  const writer = new ProtobufWriter()
  writer.message(1, () => {
    resource?.()
    writer.message(2, () => {
      for (const span of spans) writeBytes(writer, 2, span)
    })
  })
  return writer.finish()
}

function writeBytes(writer: ProtobufWriter, field: number, bytes: Buffer): void {
  writer.tag(field, 2)
  writer.rawVarint(bytes.length)
  writer.reserve(bytes.length)
  bytes.copy(writer.buffer, writer.position)
  writer.position += bytes.length
}

function rawSpan(write: (writer: ProtobufWriter) => void): Buffer {
  const writer = new ProtobufWriter()
  write(writer)
  return writer.finish()
}

describe('a body that is not OTLP', () => {
  const garbage = Buffer.from(Array.from({ length: 4_000 }, (_, index) => (index * 7_919 + 13) % 256))

  test('garbage bytes are refused with the place where they stop making sense', async () => {
    expect(statusIn(await postProtobuf(garbage))).toEqual({
      status: 400,
      contentType: PROTOBUF_TYPE,
      message: expect.stringMatching(/OTLP protobuf.*byte \d+.*Nothing was stored/) as string,
    })
    expect(errorIn(await postJson(garbage.toString('latin1')))).toMatchObject({
      status: 400,
      code: 'OTLP_UNREADABLE',
      message: expect.stringMatching(/line 1, column \d/) as string,
    })
    expect(statusIn(await postProtobuf(garbage, '/v1/logs')).status).toBe(400)
    expect(errorIn(await postJson('nonsense', '/v1/logs')).code).toBe('OTLP_UNREADABLE')
    expect(errorIn(await postJson('nonsense', '/v1/traces/ingest')).code).toBe('OTLP_UNREADABLE')
  })

  test('protobuf that is cut off anywhere is refused or tells which span it lost', async () => {
    const traceId = hex(16)
    const whole = spansToOtlpProtobuf(
      Array.from({ length: 3 }, () =>
        spanWith({ traceId, spanId: hex(8), attributes: { text: 'some text' } }),
      ),
    )
    const statuses = new Set<number>()
    for (let length = 1; length < whole.length; length += 7)
      statuses.add((await postProtobuf(whole.subarray(0, length))).status)

    expect([...statuses]).toEqual([400])
    expect((await server.request(`/api/sessions/${traceId}`)).status).toBe(404)
  })

  test('wrong content types and encodings are refused, with those that are right', async () => {
    expect(errorIn(await post('{}', { 'content-type': 'text/html' }))).toMatchObject({
      status: 415,
      code: 'UNSUPPORTED_MEDIA_TYPE',
      message: expect.stringContaining('application/x-protobuf') as string,
    })
    const json = { 'content-type': JSON_TYPE }
    expect(errorIn(await post('{}', { ...json, 'content-encoding': 'lzma' }))).toMatchObject({
      status: 415,
      code: 'UNSUPPORTED_ENCODING',
    })
    expect(errorIn(await post('{}', { ...json, 'content-encoding': 'gzip' }))).toMatchObject({
      status: 400,
      message: expect.stringContaining('gzip') as string,
    })
    const cutOff = gzipSync('{"resourceSpans":[]}').subarray(0, 20)
    expect(errorIn(await post(cutOff, { ...json, 'content-encoding': 'gzip' })).status).toBe(400)
    // Protobuf that is called JSON, and the other way round.
    expect(errorIn(await post(spansToOtlpProtobuf([spanWith()]), json)).status).toBe(400)
    expect((await postProtobuf(Buffer.from('{"resourceSpans":[]}'))).status).toBe(400)
  })

  test('a gzip bomb is stopped at the limit', async () => {
    const bomb = gzipSync(Buffer.alloc(300 * MB), { level: 9 })
    expect(bomb.length).toBeLessThan(1 * MB)

    const answers = await Promise.all(
      Array.from({ length: 8 }, () => post(bomb, { 'content-type': JSON_TYPE, 'content-encoding': 'gzip' })),
    )

    // When several inflate at once, some are told to come back.
    expect(Object.keys(countStatuses(answers)).filter((status) => !['413', '503'].includes(status))).toEqual(
      [],
    )
    const alone = await post(bomb, { 'content-type': JSON_TYPE, 'content-encoding': 'gzip' })
    expect(errorIn(alone)).toMatchObject({ status: 413, code: 'BODY_TOO_LARGE' })
  }, 60_000)

  test('a body of 100 MB is refused, whether it says so before or not', async () => {
    const body = Buffer.alloc(100 * MB, 0x20)
    expect(errorIn(await post(body, { 'content-type': JSON_TYPE }))).toMatchObject({
      status: 413,
      code: 'BODY_TOO_LARGE',
      message: expect.stringContaining('67108864') as string,
    })
    expect(await postChunked(body)).toMatchObject({ status: 413 })
  }, 60_000)

  test('nothing in a batch is nothing wrong', async () => {
    expect(await postProtobuf(Buffer.alloc(0))).toMatchObject({ status: 200, text: '' })
    expect(await postJson({})).toMatchObject({ status: 200, text: '{}' })
    expect(await postJson({ resourceSpans: [] })).toMatchObject({ status: 200, text: '{}' })
    expect(await postJson({ resourceSpans: [{ scopeSpans: [{ spans: [] }] }] })).toMatchObject({
      status: 200,
      text: '{}',
    })
    expect(await postJson({ resourceLogs: [] }, '/v1/logs')).toMatchObject({ status: 200 })
    expect(errorIn(await postJson(''))).toMatchObject({ status: 400, code: 'OTLP_UNREADABLE' })
  })

  test('JSON that is deep, wide or long is refused quickly or read', async () => {
    for (const body of [
      '['.repeat(1_000_000),
      '['.repeat(1_000_000) + ']'.repeat(1_000_000),
      '{"resourceSpans":'.repeat(100_000) + '1' + '}'.repeat(100_000),
      '1\n'.repeat(3_000_000),
      `{"resourceSpans":[${'1,'.repeat(3_000_000)}1]}`,
      `{${Array.from({ length: 1_000_000 }, (_, index) => `"k${index}":0`).join(',')},"resourceSpans":7}`,
    ]) {
      expect(errorIn(await postJson(body))).toMatchObject({ status: 400, code: 'OTLP_UNREADABLE' })
    }
  }, 120_000)
})

describe('a span that cannot be stored is named, and the rest of its batch is stored', () => {
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

  test('times in year 1 and 9999, as those who have no clock write them', async () => {
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
    // Go's zero time, as an unsigned number of 64 bits.
    const zeroTime = BigInt.asUintN(64, -6_795_364_578_871_345_152n)
    expect(
      await postBetweenGoodOnes((good) => spanBytes({ ...good, startNs: zeroTime }), 'protobuf'),
    ).toMatch(/in the year 2339/)
  })

  test('a resource of 20 MB is the fault of every span in it, and of no other', async () => {
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
  }, 60_000)
})

describe('a strange span that can be stored is read back as what it said', () => {
  async function readBack(span: Partial<Span>, format: 'json' | 'protobuf' = 'protobuf') {
    const sent = spanWith({ traceId: hex(16), spanId: hex(8), ...span })
    const answer =
      format === 'json'
        ? await postJson(spansToOtlpJson([sent]))
        : await postProtobuf(spansToOtlpProtobuf([sent]))
    expect([answer.status, answer.text]).toEqual([200, format === 'json' ? '{}' : ''])
    const response = await server.request(`/api/sessions/${sent.traceId}/steps/${sent.spanId}`)
    expect(response.status).toBe(200)
    const step = (await response.json()) as {
      name: string
      startedAt: string
      durationMs: number
      attributes: Record<string, unknown>
      usage?: Record<string, number>
      messages?: unknown[]
    }
    const { session } = await server.session(sent.traceId)
    return { step, session }
  }

  test('NUL, control characters and text of every plane', async () => {
    const text = 'a\0b\u0001\u001b[31m\u2028 \ud83d\ude80 \uffff'
    for (const format of ['protobuf', 'json'] as const) {
      const { step, session } = await readBack({ name: text, attributes: { [text]: text } }, format)
      expect(step.attributes).toEqual({ [text]: text })
      expect([step.name, session.name]).toEqual([expect.stringContaining('b'), expect.stringContaining('b')])
    }
  })

  test('invalid UTF-8 and half surrogates become U+FFFD', async () => {
    const [traceId, spanId] = [hex(16), hex(8)]
    const bytes = rawSpan((writer) => {
      writer.hex(1, traceId)
      writer.hex(2, spanId)
      writeBytes(writer, 5, Buffer.from([0x61, 0xff, 0xc3, 0x28, 0x62]))
      writer.fixed64(7, 1_780_000_000_000_000_000n)
      writer.message(9, () => {
        writeBytes(writer, 1, Buffer.from([0x6b, 0xfe]))
        writer.message(2, () => writeBytes(writer, 1, Buffer.from([0xed, 0xa0, 0x80, 0x7a, 0xf0, 0x9f])))
      })
    })
    expect((await postProtobuf(requestOf([bytes]))).status).toBe(200)
    const step = (await server.read(`/api/sessions/${traceId}/steps/${spanId}`)) as {
      name: string
      attributes: Record<string, string>
    }
    expect(step.name).toBe('a\ufffd\ufffd(b')
    expect(step.attributes['k\ufffd']).toMatch(/^\ufffd+z\ufffd+$/)

    const { step: half } = await readBack({ attributes: { half: 'x\ud800y' } }, 'json')
    expect(half.attributes).toEqual({ half: 'x\ufffdy' })
  })

  test('10,000 attributes', async () => {
    const attributes = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [`key.${index}`, `value ${index}`]),
    )
    for (const format of ['protobuf', 'json'] as const)
      expect((await readBack({ attributes }, format)).step.attributes).toEqual(attributes)
  })

  test('keys that JavaScript has other plans for', async () => {
    const keys = [
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      'hasOwnProperty',
      '__defineGetter__',
      'then',
    ]
    const attributes: Attributes = Object.create(null) as Attributes
    for (const key of [
      ...keys,
      ...keys.flatMap((key) => [`gen_ai.${key}`, `${key}.${key}`, `gen_ai.prompt.${key}.content`]),
    ])
      attributes[key] = 'polluted'
    for (const format of ['protobuf', 'json'] as const) {
      const { step } = await readBack({ attributes, resource: attributes }, format)
      expect(new Map(Object.entries(step.attributes))).toEqual(new Map(Object.entries(attributes)))
    }
    const nested = {
      value: JSON.parse('{"__proto__":{"isAdmin":true},"constructor":{"prototype":{}}}') as Attributes,
    }
    const { step } = await readBack({ attributes: nested })
    expect(JSON.stringify(step.attributes)).toBe(JSON.stringify(nested))
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined()
  })

  test('indexes that would make lists of billions', async () => {
    const bombs: Attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.prompt.4000000000.content': 'far out',
      'gen_ai.prompt.4000000000.role': 'user',
      'gen_ai.completion.99999999999999999999.content': 'further',
      'gen_ai.prompt.-1.content': 'below',
      'llm.input_messages.2147483647.message.content': 'more',
      'llm.input_messages.4294967295.message.tool_calls.4294967295.tool_call.function.name': 'most',
      'gen_ai.prompt.1e9.content': 'exponential',
    }
    const { step } = await readBack({ attributes: bombs })
    expect(step.attributes).toEqual(bombs)
    expect(step.messages?.length ?? 0).toBeLessThan(100)

    const slots: Attributes = {}
    for (let index = 0; index < 16_000; index++)
      slots[`gen_ai.prompt.${index * 250}.tool_calls.${index}.name`] = 'slot'
    const { step: wide } = await readBack({ attributes: slots })
    expect(Object.keys(wide.attributes)).toHaveLength(16_000)
    expect(JSON.stringify(wide).length).toBeLessThan(20 * MB)
  }, 60_000)

  test('numbers at the end of the number line', async () => {
    const attributes: Attributes = {
      most: Number.MAX_SAFE_INTEGER,
      least: Number.MIN_SAFE_INTEGER,
      large: 1e308,
      small: 5e-324,
      'gen_ai.operation.name': 'chat',
      'gen_ai.usage.input_tokens': 1e300,
      'gen_ai.usage.output_tokens': -5,
    }
    const { step, session } = await readBack({ attributes })
    expect(step.attributes).toEqual(attributes)
    for (const value of Object.values({ ...step.usage, ...session.usage })) {
      expect(value).toBeGreaterThanOrEqual(0)
      expect(value).toBeLessThanOrEqual(Number.MAX_SAFE_INTEGER)
    }
    const traceId = hex(16)
    const odd = [
      '{"doubleValue":"NaN"}',
      '{"doubleValue":"-Infinity"}',
      '{"doubleValue":1e400}',
      '{"intValue":"9223372036854775807"}',
      '{"intValue":"99999999999999999999"}',
      '{"intValue":123456789012345678901234567890}',
    ]
    const values = odd.map((value, index) => `{"key":"odd ${index}","value":${value}}`).join(',')
    const span = JSON.stringify(jsonSpan(spanWith({ traceId, spanId: hex(8) }))).replace(
      '"attributes":[]',
      `"attributes":[${values}]`,
    )
    const body = `{"resourceSpans":[{"scopeSpans":[{"spans":[${span}]}]}]}`
    expect(body).toContain('odd 5')
    expect(await postJson(body)).toMatchObject({ status: 200, text: '{}' })
    expect((await server.session(traceId)).steps).toHaveLength(1)
  })

  test('an end before the start, and the first and last times that are taken', async () => {
    const { step } = await readBack({
      startNs: 1_780_000_001_000_000_000n,
      endNs: 1_780_000_000_000_000_000n,
    })
    expect(step.durationMs).toBe(0)
    for (const year of [1990, 2199]) {
      const startNs = BigInt(Date.UTC(year, 5, 1)) * 1_000_000n
      const { step: edge, session } = await readBack({ startNs, endNs: startNs + 1_000_000n })
      expect(edge.startedAt).toBe(`${year}-06-01T00:00:00.000Z`)
      const listed = (await server.allSessions()).filter(({ id }) => id === session.id)
      expect(listed).toHaveLength(1)
      expect(listed[0]).toMatchObject({ startedAt: edge.startedAt, durationMs: 1 })
    }
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

  test('items with impossible times are named, and what others send at the same moment is stored', async () => {
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

  test('items that are too deep, too large or no items at all are named or refused', async () => {
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
  }, 60_000)
})

describe('requests that are wrong as requests', () => {
  test('wrong methods and unknown paths', async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
      const response = await server.request('/v1/traces', { method })
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
      expect(((await response.json()) as { error: { code: string } }).error.code).toBe('METHOD_NOT_ALLOWED')
    }
    for (const [method, path] of [
      ['POST', '/v1/nothing'],
      ['POST', '/'],
      ['GET', '/api/nothing'],
      ['POST', '/api/sessions'],
      ['PUT', '/api/sessions/abcd'],
      ['DELETE', '/anything'],
      ['GET', '/api/%zz'],
      ['POST', '/%'],
    ]) {
      const response = await server.request(path!, { method: method! })
      expect([method, path, response.status]).toEqual([
        method,
        path,
        expect.toSatisfy((status) => [400, 404, 405].includes(status as number)),
      ])
      const { error } = (await response.json()) as { error: { code: string; message: string } }
      expect(error).toEqual({ code: expect.any(String) as string, message: expect.any(String) as string })
    }
    for (const path of [
      '/%zz',
      '/%00',
      '/..%2f..%2f..%2fetc%2fpasswd',
      '/a%ff.js',
      `/${'x'.repeat(9_000)}`,
    ]) {
      const response = await server.request(path)
      expect([path.slice(0, 40), response.status < 500]).toEqual([path.slice(0, 40), true])
      expect(await response.text()).not.toContain('root:')
    }
  })

  test('questions that make no sense', async () => {
    for (const path of [
      '/api/sessions?limit=-1',
      '/api/sessions?limit=1e9',
      '/api/sessions?cursor=nonsense',
      `/api/sessions?cursor=${Buffer.from('[1e999,"x"]').toString('base64url')}`,
      '/api/sessions?cost=lots',
      '/api/sessions?from=never',
      '/api/sessions?status=asleep',
      '/api/sessions/zzz',
      `/api/sessions/${'a'.repeat(5_000)}`,
      `/api/sessions/${hex(16)}/steps/%00`,
      '/api/stats?group=nothing',
      '/api/sessions?text=%00%ff',
      "/api/sessions?name=';%20DROP%20TABLE%20steps;--%20%00%5C",
    ]) {
      const response = await server.request(path)
      expect([path, response.status]).toEqual([
        path,
        expect.toSatisfy((status) => [200, 400, 404].includes(status as number)),
      ])
      await response.arrayBuffer()
    }
    for (const [method, path] of [
      ['POST', '/api/projects'],
      ['POST', '/api/keys'],
      ['POST', '/api/restore'],
    ]) {
      for (const body of ['{', 'null', '[]', '{"__proto__":{"name":"x"}}', '\0']) {
        const response = await server.request(path!, {
          method: method!,
          headers: { 'content-type': JSON_TYPE },
          body,
        })
        expect([path, body, response.status]).toEqual([
          path,
          body,
          expect.toSatisfy((status) => [400, 404, 415].includes(status as number)),
        ])
        expect(await response.json()).toHaveProperty('error.code')
      }
    }
  })

  test('a chunked body that breaks, and clients that leave in the middle', async () => {
    const head = 'POST /v1/traces HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n'
    expect(await sendRaw(`${head}transfer-encoding: chunked\r\n\r\n5\r\n{"res\r\nZZZ\r\n`)).toMatch(
      /^HTTP\/1\.1 400/,
    )
    expect(await sendRaw(`${head}content-length: nonsense\r\n\r\n{}`)).toMatch(/^HTTP\/1\.1 400/)
    expect(await sendRaw('nonsense\r\n\r\n')).toMatch(/^HTTP\/1\.1 400/)
    await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        leaveAfter(
          index % 2 === 0
            ? `${head}content-length: 1000000\r\n\r\n{"resourceSpans":[`
            : `${head}transfer-encoding: chunked\r\n\r\n5\r\n{"res\r\n`,
        ),
      ),
    )
    await expect.poll(() => metric('request_bytes_in_flight'), { timeout: 30_000 }).toBe(0)
  })
})

describe('many large requests at once', () => {
  test('20 bodies of 30 MB: taken or told to come back', async () => {
    const bodies = [
      spansToOtlpProtobuf(largeSpans(30, 1 * MB)),
      Buffer.from(JSON.stringify(spansToOtlpJson(largeSpans(3, 10 * MB)))),
    ]
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, index) =>
        index % 2 === 0 ? postProtobuf(bodies[0]!) : post(bodies[1]!, { 'content-type': JSON_TYPE }),
      ),
    )
    const counts = countStatuses(answers)
    console.log('20 × 30 MB:', counts)
    expect(Object.keys(counts).filter((status) => status !== '200' && status !== '503')).toEqual([])
    for (const answer of answers)
      if (answer.status === 503) expect(answer.headers.has('retry-after')).toBe(true)
    await expect.poll(() => metric('request_bytes_in_flight'), { timeout: 30_000 }).toBe(0)
  }, 240_000)

  test('bodies with as many tiny spans as fit', async () => {
    const traceIds = Array.from({ length: 100 }, () => hex(16))
    const span = (index: number) =>
      rawSpan((writer) => {
        writer.hex(1, traceIds[index % 100]!)
        writer.hex(2, hex(8))
        writer.fixed64(7, 1_780_000_000_000_000_000n)
      })
    const body = requestOf(Array.from({ length: 60_000 }, (_, index) => span(index)))
    const answers = await Promise.all(Array.from({ length: 3 }, () => postProtobuf(body)))
    const counts = countStatuses(answers)
    console.log(`3 × 60,000 spans in ${Math.round(body.length / MB)} MB:`, counts)
    expect(Object.keys(counts).filter((status) => !['200', '413', '503'].includes(status))).toEqual([])
  }, 240_000)

  test('a resource that is stored with each of very many spans', async () => {
    const body = Buffer.from(
      spansToOtlpProtobuf(
        Array.from({ length: 4_000 }, () =>
          spanWith({
            traceId: hex(16),
            spanId: hex(8),
            resource: resourceOf60KB,
            scope: { name: 'x', version: '' },
          }),
        ),
      ),
    )
    const answer = await post(gzipSync(body), { 'content-type': PROTOBUF_TYPE, 'content-encoding': 'gzip' })
    console.log(
      `${Math.round(body.length / MB)} MB that would be ${(4_000 * 60) / 1024} MB of rows:`,
      answer.status,
    )
    expect(statusIn(answer)).toMatchObject({ status: 413 })
  }, 120_000)

  test('few bytes that ask for many objects', async () => {
    const events = Buffer.concat(Array.from({ length: 200_000 }, () => Buffer.from([0x5a, 0x00])))
    const body = requestOf([
      Buffer.concat([spanBytes(spanWith({ traceId: hex(16), spanId: hex(8) })), events]),
    ])
    const answers = await Promise.all(Array.from({ length: 16 }, () => postProtobuf(body)))
    console.log(`16 × ${Math.round(body.length / 1024)} KB of empty events:`, countStatuses(answers))
    expect(answers.every((answer) => [200, 413, 503].includes(answer.status))).toBe(true)
  }, 120_000)

  test('millions of different words', async () => {
    const words = () => {
      let text = ''
      while (text.length < 10 * MB) text += `${hex(500).replaceAll(/.{8}/g, '$& ')} `
      return text
    }
    const spans = Array.from({ length: 4 }, () =>
      spanWith({ traceId: hex(16), spanId: hex(8), attributes: { text: words() } }),
    )
    expect(await postProtobuf(spansToOtlpProtobuf(spans))).toMatchObject({ status: 200, text: '' })
    await expect.poll(() => metric('log_pending_rows'), { timeout: 240_000 }).toBe(0)
    expect((await server.session(spans[0]!.traceId)).steps).toHaveLength(1)
  }, 300_000)

  test('text that takes six times the room in JSON', async () => {
    const spans = Array.from({ length: 4 }, () =>
      spanWith({ traceId: hex(16), spanId: hex(8), attributes: { text: '\u0001'.repeat(15 * MB) } }),
    )
    expect(await postProtobuf(spansToOtlpProtobuf(spans))).toMatchObject({ status: 200, text: '' })
    await expect.poll(() => metric('log_pending_rows'), { timeout: 240_000 }).toBe(0)
    expect((await server.session(spans[0]!.traceId)).steps).toHaveLength(1)
  }, 180_000)

  test('names, models and messages of a megabyte', async () => {
    const text = 'y'.repeat(1 * MB)
    for (let round = 0; round < 5; round++) {
      const spans = Array.from({ length: 10 }, () =>
        spanWith({
          traceId: hex(16),
          spanId: hex(8),
          name: text,
          statusCode: 2,
          statusMessage: text,
          attributes: {
            'gen_ai.operation.name': 'chat',
            'gen_ai.request.model': text,
            'gen_ai.agent.name': text,
          },
        }),
      )
      const answer = await postProtobuf(spansToOtlpProtobuf(spans))
      expect([200, 503]).toContain(answer.status)
    }
    expect((await server.request('/api/sessions?limit=5')).status).toBe(200)
  }, 240_000)
})

test('in the end everything is in the store, and nothing failed in a way nobody thought of', async () => {
  await expect.poll(() => metric('log_pending_rows'), { timeout: 240_000 }).toBe(0)
  expect(await metric('failures_total')).toBe(0)
  expect(await metric('engine_restarts_total')).toBe(0)
  expect(server.unexpectedLines()).toEqual([])
  await expect.poll(() => server.filesInFlight(), { timeout: 30_000 }).toEqual([])
}, 300_000)

test('every normal session that was sent in between is whole', async () => {
  expect(normalSessions.size).toBeGreaterThan(30)
  await Promise.all(
    [...normalSessions].map(async ([id, spanIds]) => {
      const { session, steps } = await server.session(id)
      expect(steps.map((step) => step.id).sort()).toEqual(spanIds.toSorted())
      expect(session.usage).toMatchObject({ input: 11, output: 7 })
    }),
  )
})

const resourceOf60KB: Attributes = { 'service.name': 'large', padding: 'p'.repeat(60 * 1024) }

function largeSpans(count: number, bytes: number): Span[] {
  return Array.from({ length: count }, () =>
    spanWith({ traceId: hex(16), spanId: hex(8), attributes: { 'input.value': 'z'.repeat(bytes) } }),
  )
}

function countStatuses(answers: Answer[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

async function metric(name: string): Promise<number> {
  const text = await (await server.request('/metrics')).text()
  return Number(new RegExp(`^playhead_${name} (\\d+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
}

/** Posts without saying how long the body is. */
function postChunked(body: Buffer): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${server.url}/v1/traces`,
      { method: 'POST', headers: { 'content-type': JSON_TYPE, 'transfer-encoding': 'chunked' } },
      (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('end', () => resolve({ status: response.statusCode, text }))
      },
    )
    request.on('error', reject)
    for (let start = 0; start < body.length; start += MB) request.write(body.subarray(start, start + MB))
    request.end()
  })
}

function sendRaw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1', () => socket.write(text))
    socket.on('data', (chunk) => (answer += chunk.toString()))
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
}

function leaveAfter(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1', () => {
      socket.write(text, () => void pause(20).then(() => socket.resetAndDestroy()))
    })
    socket.on('close', () => resolve())
    socket.on('error', reject)
  })
}
