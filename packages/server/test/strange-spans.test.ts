import { describe, expect, test } from 'vitest'
import { spansToOtlpJson, type Attributes, type Span } from '@playhead/model'
import { spansToOtlpProtobuf } from '../src/ingest/otlp-protobuf/spans-to-otlp-protobuf.ts'
import { spanWith } from '../src/ingest/test/sample-span.ts'
import { MB, postJson, postProtobuf, server, testThatNothingWasLost, useBadInputServer } from './bad-input.ts'
import { hex } from './otlp.ts'
import { jsonSpan, rawSpan, requestOf, writeBytes } from './wire-spans.ts'

useBadInputServer()

describe('an unusual but valid span is read back unchanged', () => {
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

  test('NUL, control characters and text of every Unicode plane', async () => {
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

  test('keys with a special meaning in JavaScript', async () => {
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

  test('indexes that would create lists of billions', async () => {
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
  })

  test('extreme numbers', async () => {
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

  test('an end before the start, and the earliest and latest times that are accepted', async () => {
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

testThatNothingWasLost()
