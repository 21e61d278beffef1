import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { spansToOtlpJson, type Attributes, type Span } from '@playhead/model'
import { spansToOtlpProtobuf } from '../src/ingest/otlp-protobuf/spans-to-otlp-protobuf.ts'
import { spanWith } from '../src/ingest/test/sample-span.ts'
import {
  countStatuses,
  JSON_TYPE,
  MB,
  metric,
  post,
  postProtobuf,
  PROTOBUF_TYPE,
  server,
  statusIn,
  testThatNothingWasLost,
  useBadInputServer,
} from './bad-input.ts'
import { hex } from './otlp.ts'
import { rawSpan, requestOf, spanBytes } from './wire-spans.ts'

useBadInputServer()

describe('many large requests at once', () => {
  test('10 bodies of 30 MB are accepted or told to retry', async () => {
    const bodies = [
      spansToOtlpProtobuf(largeSpans(30, 1 * MB)),
      Buffer.from(JSON.stringify(spansToOtlpJson(largeSpans(3, 10 * MB)))),
    ]
    const answers = await Promise.all(
      Array.from({ length: 10 }, async (_, index) =>
        index % 2 === 0 ? postProtobuf(bodies[0]!) : post(bodies[1]!, { 'content-type': JSON_TYPE }),
      ),
    )
    const counts = countStatuses(answers)
    console.log('10 × 30 MB:', counts)
    expect(Object.keys(counts).filter((status) => status !== '200' && status !== '503')).toEqual([])
    for (const answer of answers)
      if (answer.status === 503) expect(answer.headers.has('retry-after')).toBe(true)
    await expect.poll(() => metric('request_bytes_in_flight')).toBe(0)
  }, 240_000)

  test('bodies full of tiny spans', async () => {
    const traceIds = Array.from({ length: 100 }, () => hex(16))
    const span = (index: number) =>
      rawSpan((writer) => {
        writer.hex(1, traceIds[index % 100]!)
        writer.hex(2, hex(8))
        writer.fixed64(7, 1_780_000_000_000_000_000n)
      })
    const body = requestOf(Array.from({ length: 15_000 }, (_, index) => span(index)))
    const answers = await Promise.all(Array.from({ length: 3 }, () => postProtobuf(body)))
    const counts = countStatuses(answers)
    console.log(`3 × 15,000 spans in ${Math.round(body.length / MB)} MB:`, counts)
    expect(Object.keys(counts).filter((status) => !['200', '413', '503'].includes(status))).toEqual([])
  }, 240_000)

  test('a resource that would be stored with very many spans', async () => {
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
  })

  test('few bytes that expand to many objects', async () => {
    const events = Buffer.concat(Array.from({ length: 200_000 }, () => Buffer.from([0x5a, 0x00])))
    const body = requestOf([
      Buffer.concat([spanBytes(spanWith({ traceId: hex(16), spanId: hex(8) })), events]),
    ])
    const answers = await Promise.all(Array.from({ length: 4 }, () => postProtobuf(body)))
    console.log(`4 × ${Math.round(body.length / 1024)} KB of empty events:`, countStatuses(answers))
    expect(answers.every((answer) => [200, 413, 503].includes(answer.status))).toBe(true)
  })

  test('half a million different words', async () => {
    const words = () => {
      let text = ''
      while (text.length < 4.5 * MB) text += `${hex(500).replaceAll(/.{8}/g, '$& ')} `
      return text
    }
    const spans = [spanWith({ traceId: hex(16), spanId: hex(8), attributes: { text: words() } })]
    expect(await postProtobuf(spansToOtlpProtobuf(spans))).toMatchObject({ status: 200, text: '' })
    await expect.poll(() => metric('log_pending_rows'), { timeout: 240_000 }).toBe(0)
    expect((await server.session(spans[0]!.traceId)).steps).toHaveLength(1)
  }, 300_000)

  test('text that is six times as long in JSON', async () => {
    const text = '\u0001'.repeat(15 * MB)
    const spans = [spanWith({ traceId: hex(16), spanId: hex(8), attributes: { text } })]
    expect(await postProtobuf(spansToOtlpProtobuf(spans))).toMatchObject({ status: 200, text: '' })
    await expect.poll(() => metric('log_pending_rows'), { timeout: 240_000 }).toBe(0)
    expect((await server.session(spans[0]!.traceId)).steps).toHaveLength(1)
  })

  test('names, models and messages of a megabyte', async () => {
    const text = 'y'.repeat(1 * MB)
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
    expect((await server.request('/api/sessions?limit=5')).status).toBe(200)
  }, 240_000)
})

const resourceOf60KB: Attributes = { 'service.name': 'large', padding: 'p'.repeat(60 * 1024) }

function largeSpans(count: number, bytes: number): Span[] {
  return Array.from({ length: count }, () =>
    spanWith({ traceId: hex(16), spanId: hex(8), attributes: { 'input.value': 'z'.repeat(bytes) } }),
  )
}

testThatNothingWasLost()
