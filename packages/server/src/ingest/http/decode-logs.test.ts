import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { LogRecord } from '@playhead/model'
import { describe, expect, test } from 'vitest'
import { decodeLogs } from './decode-otlp.ts'
import { ProtobufWriter } from '../otlp-protobuf/protobuf-writer.ts'
import { attributesOf, errorOf } from '../test/sample-span.ts'

const fixtures = fileURLToPath(new URL('../../../../../fixtures/', import.meta.url))

function recordWith(fields: Partial<LogRecord> = {}): LogRecord {
  return {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    timeNs: 1_780_000_000_000_000_001n,
    severity: '',
    name: '',
    body: null,
    attributes: attributesOf(),
    resource: attributesOf(),
    scope: { name: '', version: '' },
    ...fields,
  }
}

function wireRecord(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    timeUnixNano: '1780000000000000001',
    ...fields,
  }
}

function decodeJson(...logRecords: unknown[]) {
  const request = { resourceLogs: [{ scopeLogs: [{ logRecords }] }] }
  return decodeLogs(Buffer.from(JSON.stringify(request)), 'json')
}

function decodeProtobuf(...records: ((writer: ProtobufWriter) => void)[]) {
  const writer = new ProtobufWriter()
  writer.message(1, () =>
    writer.message(2, () => {
      for (const write of records) writer.message(2, () => write(writer))
    }),
  )
  return decodeLogs(writer.finish(), 'protobuf')
}

describe('recorded log requests', () => {
  test("an OpenAI instrumentation's messages have their names, bodies and spans", () => {
    const body = readFileSync(`${fixtures}otlp/otel-instrumentation-openai-js/001-POST_v1_logs.json`)
    const { items: records, rejected } = decodeLogs(body, 'json')
    expect(rejected).toEqual([])
    expect(records.map((record) => record.name)).toEqual([
      'gen_ai.system.message',
      'gen_ai.user.message',
      'gen_ai.choice',
      'gen_ai.system.message',
      'gen_ai.user.message',
      'gen_ai.assistant.message',
      'gen_ai.tool.message',
      'gen_ai.choice',
      'gen_ai.user.message',
    ])
    expect(records[0]).toMatchObject({
      severity: 'info',
      body: { content: expect.any(String) as string },
      scope: { name: '@opentelemetry/instrumentation-openai' },
    })
  })

  test.each(['claude-code-2.1/002-POST_v1_logs.json', 'mastra-1.71/002-POST_v1_logs.json'])(
    '%s is decoded completely',
    (path) => {
      const body = readFileSync(`${fixtures}otlp/${path}`)
      const sent = (
        JSON.parse(body.toString()) as { resourceLogs: { scopeLogs: { logRecords: unknown[] }[] }[] }
      ).resourceLogs
      const count = sent.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords)).length
      const { items: records, rejected } = decodeLogs(body, 'json')
      expect({ stored: records.length, rejected }).toEqual({ stored: count, rejected: [] })
    },
  )
})

describe('the forms of a log record', () => {
  const forms: [string, Record<string, unknown>, Partial<LogRecord>][] = [
    ['no trace', { traceId: '', spanId: undefined }, { traceId: '', spanId: null }],
    ['ids of zeros', { traceId: '0'.repeat(32), spanId: '0'.repeat(16) }, { traceId: '', spanId: null }],
    [
      'only an observed time',
      { timeUnixNano: '0', observedTimeUnixNano: '1780000000000000002' },
      { timeNs: 1_780_000_000_000_000_002n },
    ],
    ['both times', { observedTimeUnixNano: '1790000000000000002' }, {}],
    ['a severity text', { severityText: 'WARNING', severityNumber: 13 }, { severity: 'WARNING' }],
    ['a severity number', { severityNumber: 9 }, { severity: 'info' }],
    ['the lowest severity', { severityNumber: 1 }, { severity: 'trace' }],
    ['the highest severity', { severityNumber: 24 }, { severity: 'fatal' }],
    ['a severity that does not exist', { severityNumber: 25 }, {}],
    ['a severity by name', { severityNumber: 'SEVERITY_NUMBER_ERROR2' }, { severity: 'error' }],
    ['an event name', { eventName: 'gen_ai.choice' }, { name: 'gen_ai.choice' }],
    [
      'an event name in an attribute',
      { attributes: [{ key: 'event.name', value: { stringValue: 'gen_ai.choice' } }] },
      { name: 'gen_ai.choice', attributes: attributesOf({ 'event.name': 'gen_ai.choice' }) },
    ],
    [
      'an event name that is not a string',
      { attributes: [{ key: 'event.name', value: { intValue: 5 } }] },
      { attributes: attributesOf({ 'event.name': 5 }) },
    ],
    ['a string as the body', { body: { stringValue: 'hello' } }, { body: 'hello' }],
    [
      'a map as the body',
      { body: { kvlistValue: { values: [{ key: 'content', value: { stringValue: 'hello' } }] } } },
      { body: attributesOf({ content: 'hello' }) },
    ],
    ['a body that is NaN', { body: { doubleValue: null } }, { body: null }],
    [
      'snake_case',
      {
        traceId: undefined,
        trace_id: '1af7651916cd43dd8448eb211c80319c',
        spanId: undefined,
        span_id: 'c7ad6b7169203331',
        timeUnixNano: undefined,
        time_unix_nano: 1780000000000000000,
        severity_text: 'INFO',
        event_name: 'e',
      },
      {
        traceId: '1af7651916cd43dd8448eb211c80319c',
        spanId: 'c7ad6b7169203331',
        timeNs: 1_780_000_000_000_000_000n,
        severity: 'INFO',
        name: 'e',
      },
    ],
  ]

  test.each(forms)('reads %s', (_, wire, expected) => {
    expect(decodeJson(wireRecord(wire))).toEqual({
      items: [recordWith(expected)],
      rejected: [],
    })
  })
})

describe('an invalid log record is named, and the rest of its batch is kept', () => {
  const year = 'times are nanoseconds since 1970-01-01 UTC'
  const bad: [string, Record<string, unknown>, string, string][] = [
    [
      'no time',
      { timeUnixNano: undefined },
      'log record (b7ad6b7169203331)',
      'it has neither a time nor an observed time',
    ],
    [
      'a time in seconds',
      { timeUnixNano: 1780000000, spanId: '' },
      'log record #1',
      `its time 1780000000 is in the year 1970; ${year}`,
    ],
    [
      'a short trace id',
      { traceId: 'abc', eventName: 'gen_ai.choice' },
      'log record "gen_ai.choice" (b7ad6b7169203331)',
      'its trace id "abc" is not 16 bytes',
    ],
    [
      'a bare body',
      { body: 'hello' },
      'log record (b7ad6b7169203331)',
      'the value of "body" is the string "hello", not an object',
    ],
    [
      'a body too large',
      { body: { stringValue: 'x'.repeat(17 * 1024 * 1024) } },
      'log record (b7ad6b7169203331)',
      'it has 17.0 MB; the limit is 16.0 MB. Its largest part, its body, has 17.0 MB',
    ],
  ]

  test.each(bad)('JSON with %s', (_, wire, item, reason) => {
    expect(decodeJson(wireRecord(wire), wireRecord())).toEqual({
      items: [recordWith()],
      rejected: [{ item, reason }],
    })
  })

  test('protobuf with a body too large, no time, or a wrong id', () => {
    const writeGood = (writer: ProtobufWriter) => {
      writer.hex(9, '0af7651916cd43dd8448eb211c80319c')
      writer.hex(10, 'b7ad6b7169203331')
      writer.fixed64(1, 1_780_000_000_000_000_001n)
    }
    const decoded = decodeProtobuf(
      (writer) => {
        writeGood(writer)
        writer.message(5, () => writer.text(1, 'x'.repeat(17 * 1024 * 1024)))
      },
      (writer) => writer.text(12, 'gen_ai.choice'),
      (writer) => {
        writeGood(writer)
        writer.hex(9, 'abcd')
      },
      writeGood,
    )
    expect(decoded).toEqual({
      items: [recordWith()],
      rejected: [
        {
          item: 'log record (b7ad6b7169203331)',
          reason: 'it has 17.0 MB; the limit is 16.0 MB. Its largest part, its body, has 17.0 MB',
        },
        { item: 'log record "gen_ai.choice"', reason: 'it has neither a time nor an observed time' },
        { item: 'log record (b7ad6b7169203331)', reason: 'its trace id "abcd" (2 bytes) is not 16 bytes' },
      ],
    })
  })

  test('spans sent to the logs endpoint are refused with the right endpoint', () => {
    expect(errorOf(() => decodeLogs(Buffer.from('{"resourceSpans":[]}'), 'json'))).toMatchObject({
      code: 'OTLP_UNREADABLE',
      message:
        'The body is not valid OTLP json: it contains spans, which go to /v1/traces. Nothing was stored.',
    })
  })
})
