import { connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createApp } from '../src/api/app.ts'
import { addMcpRoutes } from '../src/mcp/mcp-routes.ts'
import { bearer, PASSWORD, startLockedServer } from './locked-server.ts'
import { hex, tracesPayload } from './otlp.ts'
import { forgetPeak, memoryOf, SpawnedServer } from './spawned-server.ts'
import { startTestServer, type TestServer } from './test-server.ts'

const MB = 1024 * 1024
/** How soon a refusal must be there: far below any deadline. */
const AT_ONCE_MS = 5_000

let server: TestServer
let cookie: string
let keys: Record<string, string>
const sockets: Socket[] = []

/** A head that never ends, begun with the first test and looked at in the last one. */
let endlessHead: Conversation

beforeAll(async () => {
  ;({ server, cookie, keys } = await startLockedServer())
  endlessHead = await open(server, 'POST /api/login HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ')
  sockets.pop()
})
afterAll(() => server.stop())
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

type Conversation = { socket: Socket; received: () => string; isClosed: () => boolean }

function open({ url }: { url: string }, text: string): Promise<Conversation> {
  let [received, isClosed] = ['', false]
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => {
      socket.removeListener('error', reject).on('error', () => {})
      socket.write(text, () => resolve({ socket, received: () => received, isClosed: () => isClosed }))
    })
    socket.on('error', reject)
    socket.on('data', (chunk) => (received += chunk.toString()))
    socket.on('close', () => (isClosed = true))
    sockets.push(socket)
  })
}

const head = (method: string, path: string, headers: Record<string, string | number>) =>
  `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n${Object.entries(
    headers,
  )
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`

/** Sends only a head, and returns the response that comes without a body having been sent. */
async function answerToHead(method: string, path: string, headers: Record<string, string | number>) {
  const conversation = await open(server, head(method, path, headers))
  await expect.poll(() => conversation.received().includes('\r\n\r\n'), { timeout: AT_ONCE_MS }).toBe(true)
  const [lines = '', body = ''] = conversation.received().split('\r\n\r\n', 2)
  return { ...conversation, status: Number(lines.split(' ')[1]), lines: lines.toLowerCase(), body }
}

/** Every route of the server: those of the app, AgentOps' included, and OTLP's. */
function allRoutes(): [method: string, path: string][] {
  const routes = createApp(server.services, (app) => addMcpRoutes(app, server.services)).routes.map(
    ({ method, path }) => [
      method === 'ALL' ? 'POST' : method,
      path.replaceAll(/[:{](\w+)}?/g, 'a').replaceAll('*', 'anything'),
    ],
  )
  const ingest = ['/v1/traces', '/v1/logs', '/v1/metrics', '/v1/traces/ingest', '/x/v1/traces']
  const all = [...routes, ...ingest.map((path) => ['POST', path])]
  return [...new Map(all.map((route) => [route.join(' '), route as [string, string]])).values()]
}

const publicRoutes = ['POST /api/login', 'POST /v3/auth/token', 'POST /public/v1/auth/access_token']

describe('without a key', () => {
  test.each([
    ['a huge body', { 'content-length': 300 * MB }],
    ['a body of unknown length', { 'transfer-encoding': 'chunked' }],
  ])('%s is refused from the head, on every route, and the connection is closed', async (_, headers) => {
    const routes = allRoutes().filter(
      ([method, path]) => !('transfer-encoding' in headers && publicRoutes.includes(`${method} ${path}`)),
    )
    expect(routes.length).toBeGreaterThan(55)
    const answers = await Promise.all(
      routes.map(async ([method, path]) => ({
        route: `${method} ${path}`,
        ...(await answerToHead(method, path, headers)),
      })),
    )
    for (const { route, status, lines, body } of answers) {
      expect([route, status]).toEqual([route, expect.toBeOneOf([401, 413])])
      expect([route, lines.includes('connection: close')]).toEqual([route, true])
      if (!route.startsWith('HEAD'))
        expect([route, JSON.parse(body)]).toMatchObject([
          route,
          { error: { code: status === 401 ? 'UNAUTHORIZED' : 'BODY_TOO_LARGE' } },
        ])
    }
    await expect.poll(() => answers.every(({ isClosed }) => isClosed()), { timeout: AT_ONCE_MS }).toBe(true)
  })

  test('a small body that never arrives delays no response, on any route that needs a key', async () => {
    const routes = allRoutes().filter(([method, path]) => !publicRoutes.includes(`${method} ${path}`))
    for (const [method, path] of routes) {
      const { status, socket } = await answerToHead(method, path, { 'content-length': 10 })
      expect([method, path, status]).toEqual([method, path, expect.any(Number)])
      socket.destroy()
    }
  })

  test('clients that send a whole batch before they read see why it was refused', async () => {
    for (const megabytes of [0.01, 0.5, 4]) {
      const response = await server.request('/v1/traces', {
        json: tracesPayload([{ attributes: { text: 'x'.repeat(megabytes * MB) } }]),
        headers: bearer('ph_wrong'),
      })
      expect([megabytes, response.status, await response.json()]).toMatchObject([
        megabytes,
        401,
        { error: { code: 'UNAUTHORIZED' }, message: expect.stringContaining('unknown or revoked') as string },
      ])
    }
  })

  test('a client that asks before it sends its body is refused instead of being told to continue', async () => {
    const asked = { 'content-length': 5 * MB, expect: '100-continue' }
    expect((await answerToHead('POST', '/v1/traces', asked)).lines).toMatch(/^http\/1\.1 401/)
    const invited = await answerToHead('POST', '/v1/traces', { ...asked, ...bearer(keys.a) })
    expect(invited.lines).toMatch(/^http\/1\.1 100/)
  })

  test('hundreds of stalled bodies, on every route that takes one, block neither logins nor tokens nor senders', async () => {
    for (const route of publicRoutes) {
      const [method = '', path = ''] = route.split(' ')
      for (let count = 0; count < 100; count++)
        await open(server, `${head(method, path, { 'content-length': 8_000 })}{"`)
      for (let count = 0; count < 20; count++)
        await open(server, `${head(method, path, { 'transfer-encoding': 'chunked' })}3\r\n{"a\r\n`)
    }
    expect(server.services.bodyLimits.budget.bytesInFlight).toBe(0)

    const login = await server.request('/api/login', { json: { password: PASSWORD } })
    const token = await server.request('/v3/auth/token', { json: { api_key: keys.a } })
    const access = await server.request('/public/v1/auth/access_token', { json: { api_key: keys.a } })
    const post = await server.request('/v1/traces', {
      json: tracesPayload([{ attributes: { text: 'x'.repeat(8 * MB) } }]),
      headers: bearer(keys.a),
    })
    expect([login.status, token.status, access.status, post.status]).toEqual([200, 200, 200, 200])
  })
})

test('a login of 299 MB costs nothing', async () => {
  const spawned = await SpawnedServer.forThisTest({ PLAYHEAD_AUTH: 'on', PLAYHEAD_PASSWORD: PASSWORD })
  await spawned.start()
  const { socket, received, isClosed } = await open(
    spawned,
    head('POST', '/api/login', { 'transfer-encoding': 'chunked' }),
  )
  forgetPeak(spawned.pid)
  const before = memoryOf(spawned.pid).nowMb
  const block = Buffer.alloc(MB, 0x20)
  let sent = 0
  for (; sent < 299 && !isClosed(); sent++) {
    socket.write(`${MB.toString(16)}\r\n`)
    const isTaken = socket.write(Buffer.concat([block, Buffer.from('\r\n')]))
    if (!isTaken)
      await new Promise((resolve) => {
        socket.once('drain', resolve)
        socket.once('close', resolve)
      })
  }
  await expect.poll(received, { timeout: AT_ONCE_MS }).toContain('BODY_TOO_LARGE')
  await expect.poll(isClosed, { timeout: AT_ONCE_MS }).toBe(true)

  expect(sent).toBeLessThan(50)
  expect(memoryOf(spawned.pid).peakMb - before).toBeLessThan(30)
  expect(spawned.isAlive()).toBe(true)
  expect(spawned.unexpectedLines([/^ {2}auth /])).toEqual([])
})

describe('with a key', () => {
  test('every JSON route has a limit of kilobytes, and says so', async () => {
    const body = { name: 'x'.repeat(600_000), password: '', api_key: '', ids: [] }
    const routes: [method: string, path: string][] = [
      ['POST', '/api/login'],
      ['POST', '/api/keys'],
      ['POST', '/api/projects'],
      ['PATCH', '/api/projects/a'],
      ['POST', '/api/sessions/delete'],
      ['POST', '/v3/auth/token'],
      ['POST', '/public/v1/auth/access_token'],
    ]
    for (const [method, path] of routes) {
      const response = await server.request(path, { method, json: body, headers: { cookie } })
      expect([path, response.status, await response.json()]).toMatchObject([
        path,
        413,
        {
          error: {
            code: 'BODY_TOO_LARGE',
            message: expect.stringMatching(/limit of \d{4,6} bytes/) as string,
          },
        },
      ])
    }
  })

  test('a body that a route does not want is ignored', async () => {
    const response = await server.request('/api/logout', { json: { any: 'thing' } })
    expect(response.status).toBe(200)
  })
})

describe('without auth', () => {
  test('the limits of routes are the same', async () => {
    const unlocked = await startTestServer()
    try {
      const response = await unlocked.request('/api/keys', { json: { name: 'x'.repeat(100_000) } })
      expect(response.status).toBe(413)
      for (let count = 0; count < 50; count++)
        await open(unlocked, `${head('POST', '/api/keys', { 'content-length': 60_000 })}{"name":"`)
      const created = await unlocked.request('/api/keys', { json: { name: 'one' } })
      expect(created.status).toBe(200)
      await unlocked.postTraces(tracesPayload([{}]))
    } finally {
      await unlocked.stop()
    }
  })
})

describe('a login cookie', () => {
  const post = (headers: Record<string, string>) =>
    server.request('/v1/traces', {
      json: tracesPayload([{ traceId: hex(16) }]),
      headers: { cookie, ...headers },
    })

  test('does not let pages of another origin send spans; a key does', async () => {
    const foreign = { origin: 'http://127.0.0.1:9999' }
    expect((await post(foreign)).status).toBe(401)
    expect((await post({ 'sec-fetch-site': 'same-site' })).status).toBe(401)
    expect((await post({ ...foreign, ...bearer(keys.a) })).status).toBe(200)
  })

  test('lets programs and our own pages send them', async () => {
    expect((await post({})).status).toBe(200)
    expect((await post({ origin: server.url })).status).toBe(200)
  })
})

test('a path is recognised by its path, whatever the query ends with', async () => {
  const response = await server.request('/api/sessions?text=/v1/traces', { headers: bearer(keys.a) })
  expect([response.status, await response.json()]).toMatchObject([200, { sessions: [] }])
})

test('a key that only sends cannot read the prices of its project', async () => {
  const created = await server.request('/api/keys?project=a', {
    json: { name: 'sender', scopes: ['ingest'] },
    headers: { cookie },
  })
  const { secret } = (await created.json()) as { secret: string }
  expect((await server.request('/api/projects', { headers: bearer(secret) })).status).toBe(403)
  expect((await server.request('/api/projects', { headers: bearer(keys.a) })).status).toBe(200)
})

test('the head of a request has 16 KB', async () => {
  const { received, isClosed } = await open(
    server,
    `GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ${'x'.repeat(17 * 1024)}\r\n\r\n`,
  )
  await expect.poll(isClosed).toBe(true)
  expect(received()).toMatch(/^HTTP\/1\.1 431/)
})

test('the head of a request has 20 seconds', async () => {
  await expect.poll(endlessHead.isClosed).toBe(true)
  expect(endlessHead.received()).toMatch(/^HTTP\/1\.1 408/)
})
