import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { spansToOtlpProtobuf } from '../src/ingest/otlp-protobuf/spans-to-otlp-protobuf.ts'
import { spanWith } from '../src/ingest/test/sample-span.ts'
import {
  countStatuses,
  errorIn,
  JSON_TYPE,
  MB,
  metric,
  post,
  postJson,
  postProtobuf,
  PROTOBUF_TYPE,
  server,
  statusIn,
  testThatNothingWasLost,
  useBadInputServer,
} from './bad-input.ts'
import { hex } from './otlp.ts'
import { sendRaw } from './send-raw.ts'

useBadInputServer()

describe('a body that is not OTLP', () => {
  const garbage = Buffer.from(Array.from({ length: 4_000 }, (_, index) => (index * 7_919 + 13) % 256))

  test('garbage is refused with the position of the error', async () => {
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

  test('protobuf that is truncated anywhere is refused, or the lost span is named', async () => {
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

  test('unsupported content types and encodings are refused with a list of the supported ones', async () => {
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
    // Protobuf labelled as JSON, and vice versa.
    expect(errorIn(await post(spansToOtlpProtobuf([spanWith()]), json)).status).toBe(400)
    expect((await postProtobuf(Buffer.from('{"resourceSpans":[]}'))).status).toBe(400)
  })

  test('a gzip bomb is stopped at the limit', async () => {
    const bomb = gzipSync(Buffer.alloc(300 * MB), { level: 9 })
    expect(bomb.length).toBeLessThan(1 * MB)

    const answers = await Promise.all(
      Array.from({ length: 8 }, () => post(bomb, { 'content-type': JSON_TYPE, 'content-encoding': 'gzip' })),
    )

    // If several are decompressed at once, some are told to retry.
    expect(Object.keys(countStatuses(answers)).filter((status) => !['413', '503'].includes(status))).toEqual(
      [],
    )
    const alone = await post(bomb, { 'content-type': JSON_TYPE, 'content-encoding': 'gzip' })
    expect(errorIn(alone)).toMatchObject({ status: 413, code: 'BODY_TOO_LARGE' })
  })

  test('a body of 100 MB is refused, with or without a content length', async () => {
    const body = Buffer.alloc(100 * MB, 0x20)
    expect(errorIn(await post(body, { 'content-type': JSON_TYPE }))).toMatchObject({
      status: 413,
      code: 'BODY_TOO_LARGE',
      message: expect.stringContaining('67108864') as string,
    })
    expect(await postChunked(body)).toMatchObject({ status: 413 })
  })

  test('an empty batch is fine', async () => {
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

  test('deep, wide or long JSON is refused quickly or decoded', async () => {
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
  })
})

describe('bad HTTP requests', () => {
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

  test('invalid query parameters', async () => {
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

  test('a broken chunked body, and clients that disconnect halfway', async () => {
    const head = 'POST /v1/traces HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n'
    expect(await sendRaw(server, `${head}transfer-encoding: chunked\r\n\r\n5\r\n{"res\r\nZZZ\r\n`)).toMatch(
      /^HTTP\/1\.1 400/,
    )
    expect(await sendRaw(server, `${head}content-length: nonsense\r\n\r\n{}`)).toMatch(/^HTTP\/1\.1 400/)
    expect(await sendRaw(server, 'nonsense\r\n\r\n')).toMatch(/^HTTP\/1\.1 400/)
    await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        leaveAfter(
          index % 2 === 0
            ? `${head}content-length: 1000000\r\n\r\n{"resourceSpans":[`
            : `${head}transfer-encoding: chunked\r\n\r\n5\r\n{"res\r\n`,
        ),
      ),
    )
    await expect.poll(() => metric('request_bytes_in_flight')).toBe(0)
  })
})

/** Posts without a content length. */
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

function leaveAfter(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1', () => {
      socket.write(text, () => void pause(20).then(() => socket.resetAndDestroy()))
    })
    socket.on('close', () => resolve())
    socket.on('error', reject)
  })
}

testThatNothingWasLost()
