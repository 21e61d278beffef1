import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tracesPayload } from './otlp.ts'
import { startTestServer, type TestServer } from './test-server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

/** Needed because fetch does not allow setting Host and Origin. */
function send(
  path: string,
  headers: Record<string, string>,
  method = 'GET',
  body?: string,
): Promise<{ status: number; body: string; allowOrigin: string | undefined }> {
  const { port } = new URL(server.url)
  return new Promise((resolve, reject) => {
    const outgoing = request({ port, host: '127.0.0.1', path, method, headers }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          body: text,
          allowOrigin: response.headers['access-control-allow-origin'],
        }),
      )
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

test('DNS rebinding is refused: a foreign name that points to this machine', async () => {
  for (const host of ['evil.example', 'localhost.evil.example:4318', '127.0.0.1.nip.io']) {
    const { status, body } = await send('/api/sessions', { host })
    expect({ host, status }).toEqual({ host, status: 403 })
    expect(body).toContain('accepts only loopback names')
  }
  for (const host of ['localhost:4318', '127.0.0.1:9', '[::1]:4318']) {
    expect({ host, status: (await send('/api/sessions', { host })).status }).toEqual({ host, status: 200 })
  }
})

test('a page of another site can neither read nor send', async () => {
  for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example']) {
    const read = await send('/api/sessions', { host: 'localhost', origin })
    const write = await send(
      '/v1/traces',
      { host: 'localhost', origin, 'content-type': 'application/json' },
      'POST',
      '{}',
    )
    const change = await send(
      '/api/projects',
      { host: 'localhost', origin, 'content-type': 'text/plain' },
      'POST',
      '{"name":"x"}',
    )
    expect([read.status, write.status, change.status]).toEqual([403, 403, 403])
  }
})

test("a page on the developer's own machine may send spans, and nothing else", async () => {
  const origin = 'http://localhost:3000'
  const body = JSON.stringify(tracesPayload([{ name: 'from a page', endMs: 1_700_000_000_500 }]))

  const write = await send(
    '/v1/traces',
    { host: 'localhost', origin, 'content-type': 'application/json' },
    'POST',
    body,
  )
  const preflight = await send(
    '/v1/traces',
    { host: 'localhost', origin, 'access-control-request-method': 'POST' },
    'OPTIONS',
  )
  const read = await send('/api/sessions', { host: 'localhost', origin })

  expect(write).toMatchObject({ status: 200, allowOrigin: origin })
  expect(preflight).toMatchObject({ status: 204, allowOrigin: origin })
  expect(read.status).toBe(403)
})

test('with auth off any key is accepted, for SDKs that insist on one', async () => {
  const response = await server.request('/v1/traces', {
    json: tracesPayload([{ endMs: 1_700_000_000_500 }]),
    headers: { authorization: 'Bearer whatever' },
  })

  expect(response.status).toBe(200)
})
