import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AuditEntry } from '../src/api/schemas/audit.ts'
import type { Key, Login } from '../src/api/schemas/settings.ts'
import { describeDevice } from '../src/access/logins.ts'
import { bearer, PASSWORD } from './locked-server.ts'
import { tracesPayload } from './otlp.ts'
import { switchOff } from './switch-off.ts'
import { startTestServer, type TestServer } from './test-server.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

let server: TestServer
let folder: string
const start = (password = PASSWORD) =>
  startTestServer({ PLAYHEAD_AUTH: 'on', PLAYHEAD_PASSWORD: password, PLAYHEAD_DATA: folder })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'playhead-logins-'))
  server = await start()
})
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

async function restart(password?: string): Promise<void> {
  await server.stop()
  server = await start(password)
}

async function logIn(body: object = {}): Promise<{ cookie: string }> {
  const response = await server.request('/api/login', { json: { password: PASSWORD, ...body } })
  return { cookie: response.headers.get('set-cookie')!.split(';')[0]! }
}

const status = async (headers: Record<string, string>) =>
  (await server.request('/api/projects', { headers })).status

async function listLogins(headers: Record<string, string>): Promise<Login[]> {
  const response = await server.request('/api/logins', { headers })
  return ((await response.json()) as { logins: Login[] }).logins
}

describe('logins', () => {
  test('a logout ends the cookie for good, and other logins survive a restart', async () => {
    const [gone, kept] = [await logIn(), await logIn()]
    expect([await status(gone), await status(kept)]).toEqual([200, 200])

    await server.request('/api/logout', { method: 'POST', headers: gone })

    expect([await status(gone), await status(kept)]).toEqual([401, 200])
    await restart()
    expect([await status(gone), await status(kept)]).toEqual([401, 200])
  })

  test('are listed, and ended one by one or all others', async () => {
    const mine = await logIn()
    const [second, third] = [await logIn(), await logIn()]
    const listed = await listLogins(mine)
    expect(listed.filter(({ isCurrent }) => isCurrent)).toEqual([
      {
        id: mine.cookie.slice('playhead_login='.length).split('.')[0],
        createdAt: expect.any(String) as string,
        expiresAt: expect.any(String) as string,
        lastUsedAt: expect.stringMatching(/:00\.000Z$/) as string,
        address: '127.0.0.1',
        device: 'node',
        isCurrent: true,
      },
    ])

    const [thirdId] = (await listLogins(third)).filter(({ isCurrent }) => isCurrent).map(({ id }) => id)
    expect((await server.request(`/api/logins/${thirdId}`, { method: 'DELETE', headers: mine })).status).toBe(
      200,
    )
    expect((await server.request(`/api/logins/${thirdId}`, { method: 'DELETE', headers: mine })).status).toBe(
      404,
    )
    expect([await status(mine), await status(second), await status(third)]).toEqual([200, 200, 401])

    const ended = await server.request('/api/logins/end-others', { method: 'POST', headers: mine })
    expect(await ended.json()).toEqual({ ended: listed.length - 2 })
    expect([await status(mine), await status(second)]).toEqual([200, 401])
    expect((await listLogins(mine)).map(({ isCurrent }) => isCurrent)).toEqual([true])
  })

  test('an ended login stays ended when the clock was set back', async () => {
    const headers = await logIn()
    const now = Date.now()
    switchOff(Date, 'now', () => now - 86_400_000)
    await server.request('/api/logout', { method: 'POST', headers })
    await restart()
    expect(await status(headers)).toBe(401)
  })

  test('a new password ends every login', async () => {
    const headers = await logIn()
    await restart('another password')
    expect(await status(headers)).toBe(401)
    expect(server.services.gate.logins!.list(undefined)).toEqual([])
    await restart()
    expect(await status(headers)).toBe(200)
  })

  test('can be short', async () => {
    const response = await server.request('/api/login', { json: { password: PASSWORD, lastsSeconds: 60 } })
    expect(response.headers.get('set-cookie')).toContain('Max-Age=60;')
    const headers = { cookie: response.headers.get('set-cookie')!.split(';')[0]! }
    expect(await status(headers)).toBe(200)
    const now = Date.now()
    switchOff(Date, 'now', () => now + 61_000)
    expect(await status(headers)).toBe(401)
  })

  test('a key sees and ends no logins', async () => {
    const secret = await createKey({ name: 'k', scopes: ['admin'] })
    for (const [path, method] of [
      ['/api/logins', 'GET'],
      ['/api/logins/x', 'DELETE'],
      ['/api/logins/end-others', 'POST'],
    ] as const)
      expect((await server.request(path, { method, headers: bearer(secret) })).status).toBe(403)
  })

  test('are named after the browser or program', () => {
    const windows =
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'
    const names = [
      windows,
      `${windows} Edg/140.0`,
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0 Mobile/15E148 Safari/604.1',
      'playhead/0.1.0',
      'curl/8.5.0\u001B[31m',
      undefined,
    ]
    expect(names.map(describeDevice)).toEqual([
      'Chrome on Windows',
      'Edge on Windows',
      'Safari on macOS',
      'Chrome on iOS',
      'Playhead CLI',
      'curl/8.5.0[31m',
      'Unknown program',
    ])
  })
})

async function createKey(body: object): Promise<string> {
  const response = await server.request('/api/keys', { json: body, headers: await logIn() })
  expect(response.status).toBe(200)
  return ((await response.json()) as { secret: string }).secret
}

async function listKey(name: string): Promise<Key | undefined> {
  const response = await server.request('/api/keys', { headers: await logIn() })
  return ((await response.json()) as { keys: Key[] }).keys.find((key) => key.name === name)
}

describe('keys', () => {
  test('an expired key is refused with its own sentence, everywhere', async () => {
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
    const secret = await createKey({
      name: 'for a day',
      scopes: ['ingest', 'read'],
      expiresAt,
      format: 'uuid',
    })
    expect((await listKey('for a day'))!.expiresAt).toBe(expiresAt)
    const ask = async () => {
      const headers = bearer(secret)
      const responses = [
        await server.request('/v1/traces', { json: tracesPayload([{}]), headers }),
        await server.request('/api/sessions', { headers }),
        await server.request('/v3/auth/token', { json: { api_key: secret } }),
      ]
      return Promise.all(responses.map(async (response) => [response.status, await response.text()]))
    }
    expect((await ask()).map(([code]) => code)).toEqual([200, 200, 200])

    const now = Date.now()
    switchOff(Date, 'now', () => now + 86_400_001)

    const message = `The key \\"for a day\\" expired on ${expiresAt.slice(0, 10)}. Create a new one with: playhead keys create`
    expect(await ask()).toEqual(
      Array.from({ length: 3 }, () => [401, expect.stringContaining(message) as string]),
    )
    expect(await (await server.request('/api/me', { headers: bearer(secret) })).json()).toMatchObject({
      kind: 'nobody',
    })
    const { entries } = (await (
      await server.request('/api/audit?action=key.refused', { headers: await logIn() })
    ).json()) as { entries: AuditEntry[] }
    expect(
      entries.map(({ detail, caller }) => [detail, caller.kind, caller.name, caller.address]),
    ).toContainEqual([`expired ${expiresAt}`, 'key', 'for a day', '127.0.0.1'])
  })

  test.each(['2020-01-01T00:00:00Z', 'tomorrow', 7])('an expiry of %s is refused', async (expiresAt) => {
    const response = await server.request('/api/keys', {
      json: { name: 'x', expiresAt },
      headers: await logIn(),
    })
    expect(response.status).toBe(400)
  })

  test('the last use is known to the minute, and survives a restart', async () => {
    const secret = await createKey({ name: 'used', scopes: ['ingest'] })
    expect((await listKey('used'))!.lastUsedAt).toBe(null)
    await server.request('/v1/traces', { json: tracesPayload([{}]), headers: bearer(secret) })
    const lastUsedAt = (await listKey('used'))!.lastUsedAt
    expect(lastUsedAt).toMatch(/:00\.000Z$/)

    await restart()

    expect((await listKey('used'))!.lastUsedAt).toBe(lastUsedAt)
  })
})
