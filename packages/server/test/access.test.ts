import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bearer, startLockedServer } from './locked-server.ts'
import { hex, tracesPayload } from './otlp.ts'
import type { TestServer } from './test-server.ts'

let server: TestServer
let cookie: string
let keys: Record<string, string>

beforeAll(async () => {
  ;({ server, cookie, keys } = await startLockedServer())
})
afterAll(() => server.stop())

async function record(project: string, marker: string): Promise<{ traceId: string; spanId: string }> {
  const [traceId, spanId] = [hex(16), hex(8)]
  const span = {
    traceId,
    spanId,
    name: `${marker}-name`,
    endMs: 1_700_000_001_000,
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': `${marker}-tool`,
      'gen_ai.tool.call.result': marker,
      'user.id': `${marker}-user`,
    },
  }
  const response = await server.request('/v1/traces', {
    json: tracesPayload([span]),
    headers: bearer(keys[project]),
  })
  expect(response.status).toBe(200)
  return { traceId, spanId }
}

type OpenApi = {
  paths: Record<
    string,
    Record<
      string,
      { parameters?: { name: string; in: string; required?: boolean; schema?: { enum?: string[] } }[] }
    >
  >
}

test('a key of one project cannot reach another project through any route of the OpenAPI document', async () => {
  const marker = `marker${hex(6)}`
  const { traceId, spanId } = await record('b', marker)
  const document = (await (await server.request('/api/openapi.json')).json()) as OpenApi
  const tried: string[] = []

  for (const [template, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      for (const project of ['', 'project=b']) {
        // It would run the example agent for A, which takes seconds and never touches B.
        if (template === '/api/demo' && method === 'post' && project === '') continue
        const path = template.replace('{id}', traceId).replace('{stepId}', spanId).replace('{project}', 'b')
        const parameters = (operation.parameters ?? [])
          .filter(
            ({ in: place, required, schema }) => place === 'query' && (required === true || schema?.enum),
          )
          .map(({ name, schema }) => `${name}=${schema?.enum?.[0] ?? spanId}`)
        const url = `${path}?${[project, ...parameters].filter(Boolean).join('&')}`
        const hasBody = ['post', 'patch', 'put'].includes(method)
        const controller = new AbortController()
        const response = await server.request(url, {
          method: method.toUpperCase(),
          headers: {
            ...bearer(keys.a),
            'content-type': 'application/json',
            ...(project !== '' && { 'x-playhead-project': 'b' }),
          },
          ...(hasBody && {
            body: JSON.stringify({
              name: 'x',
              password: 'y',
              scopes: ['admin'],
              priceOverrides: [],
              retentionDays: 1,
            }),
          }),
          signal: controller.signal,
        })
        const isStream = response.headers.get('content-type')?.includes('event-stream') === true
        const text = isStream ? '' : await response.text()
        controller.abort()
        expect({ url, method, leaks: text.includes(marker) }).toEqual({ url, method, leaks: false })
        expect(response.status, `${method} ${url}: ${text.slice(0, 200)}`).not.toBe(500)
        if (project !== '' && !['/api/me', '/api/login', '/api/logout', '/api/projects'].includes(template)) {
          expect({ url, method, status: response.status }).toMatchObject({
            // A key is no share link.
            status: expect.toBeOneOf(template.startsWith('/api/shared/') ? [401] : [400, 403, 404]) as number,
          })
        }
        tried.push(`${method} ${template}`)
      }
    }
  }
  expect(new Set(tried).size).toBeGreaterThan(15)
  // A's attempts changed nothing in B.
  const still = await server.request(`/api/sessions/${traceId}`, { headers: bearer(keys.b) })
  expect(still.status).toBe(200)
})

test('live events of one project never reach a viewer of another', async () => {
  const marker = `marker${hex(6)}`
  const controller = new AbortController()
  const stream = await server.request('/api/live', { headers: bearer(keys.a), signal: controller.signal })
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
  let received = (await reader.read()).value ?? ''

  await record('b', marker)
  await record('a', 'own-marker')
  while (!received.includes('own-marker')) received += (await reader.read()).value ?? ''

  expect(received).not.toContain(marker)
  controller.abort()
})

test('two projects can have sessions with the same id', async () => {
  const traceId = hex(16)
  for (const project of ['a', 'b']) {
    const span = { traceId, spanId: '00000000000000aa', name: `only-in-${project}`, endMs: 1_700_000_001_000 }
    await server.request('/v1/traces', { json: tracesPayload([span]), headers: bearer(keys[project]) })
  }

  for (const project of ['a', 'b']) {
    const response = await server.request(`/api/sessions/${traceId}?payloads=all`, {
      headers: bearer(keys[project]),
    })
    const { steps } = (await response.json()) as { steps: { name: string }[] }
    expect(steps.map((step) => step.name)).toEqual([`only-in-${project}`])
  }
})

describe('keys', () => {
  test('without a key, writes and reads are refused', async () => {
    const post = await server.request('/v1/traces', { json: tracesPayload([{}]) })
    const read = await server.request('/api/sessions')

    expect([post.status, read.status]).toEqual([401, 401])
    expect(await read.json()).toEqual({
      error: {
        code: 'UNAUTHORIZED',
        message: expect.stringContaining('Authorization: Bearer ph_') as string,
      },
    })
  })

  test('routes that need a login do not ask for a key', async () => {
    for (const headers of [{}, bearer('ph_unknown'), bearer(keys.a)] as Record<string, string>[]) {
      for (const path of ['/api/backup', '/api/health']) {
        const response = await server.request(path, { headers })
        expect(response.status).toBe(headers.authorization === `Bearer ${keys.a}` ? 403 : 401)
        const { error } = (await response.json()) as { error: { message: string } }
        expect(error.message).toMatch(/needs a login/)
        expect(error.message).not.toMatch(/Bearer|keys create/)
      }
    }
  })

  test('a key can do only what its scopes allow', async () => {
    const created = await server.request('/api/keys?project=a', {
      json: { name: 'sender', scopes: ['ingest'] },
      headers: { cookie },
    })
    const { secret } = (await created.json()) as { secret: string }

    const post = await server.request('/v1/traces', { json: tracesPayload([{}]), headers: bearer(secret) })
    const read = await server.request('/api/sessions', { headers: bearer(secret) })
    const manage = await server.request('/api/keys', { headers: bearer(secret) })

    expect([post.status, read.status, manage.status]).toEqual([200, 403, 403])
  })

  test('a revoked key stops working immediately, and stays revoked after a restart', async () => {
    const created = await server.request('/api/keys?project=a', {
      json: { name: 'short' },
      headers: { cookie },
    })
    const { key, secret } = (await created.json()) as { key: { id: string }; secret: string }
    expect((await server.request('/api/sessions', { headers: bearer(secret) })).status).toBe(200)

    await server.request(`/api/keys/${key.id}?project=a`, { method: 'DELETE', headers: { cookie } })

    expect((await server.request('/api/sessions', { headers: bearer(secret) })).status).toBe(401)
    await server.services.registry.reload()
    expect((await server.request('/api/sessions', { headers: bearer(secret) })).status).toBe(401)
  })

  test('the secret is neither stored nor listed', async () => {
    const listed = await (await server.request('/api/keys?project=a', { headers: { cookie } })).text()
    const stored = await server.services.store.client.query({
      query: 'SELECT * FROM keys',
      format: 'JSONEachRow',
    })

    for (const text of [listed, await stored.text()]) expect(text).not.toContain(keys.a)
  })

  test.each([
    ['x-api-key', (key: string) => ({ 'x-api-key': key })],
    [
      'Basic, as Langfuse SDKs send it',
      (key: string) => ({ authorization: `Basic ${Buffer.from(`pk-lf-1:${key}`).toString('base64')}` }),
    ],
    ['bearer in lower case', (key: string) => ({ authorization: `bearer ${key}` })],
  ])('is accepted as %s', async (_, headers) => {
    expect((await server.request('/api/sessions', { headers: headers(keys.a!) })).status).toBe(200)
  })
})

describe('login', () => {
  test('a wrong password is refused, and repeated guesses are rate limited', async () => {
    const statuses: number[] = []
    for (let attempt = 0; attempt < 12; attempt++) {
      statuses.push((await server.request('/api/login', { json: { password: `guess ${attempt}` } })).status)
    }

    expect(statuses[0]).toBe(401)
    expect(statuses.slice(10)).toEqual([429, 429])
  })

  test('the cookie cannot be forged, and scripts of a page cannot read it', async () => {
    const forged = await server.request('/api/sessions', {
      headers: { cookie: 'playhead_login=zzzzzzzz.AAAA' },
    })

    expect(forged.status).toBe(401)
    expect((await server.request('/api/sessions', { headers: { cookie } })).status).toBe(200)
  })
})
