import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { LoginCookies } from '../src/access/secrets.ts'
import { bearer, PASSWORD, startLockedServer } from './locked-server.ts'
import { hex, tracesPayload } from './otlp.ts'
import { switchOff } from './switch-off.ts'
import type { TestServer } from './test-server.ts'

/**
 * Attacks on a real server with auth. Each runs twice: against the server as it is, where it must fail, and with the
 * protection switched off, where it must succeed. Otherwise the test could not detect the attack.
 */
let server: TestServer
let cookie: string
let keys: Record<string, string>
const secret = `secret${hex(8)}`

beforeAll(async () => {
  ;({ server, cookie, keys } = await startLockedServer())
  const span = { name: secret, startMs: Date.now() - 2_000, endMs: Date.now() - 1_000 }
  await server.request('/v1/traces', { json: tracesPayload([span, span]), headers: bearer(keys.b) })
})
afterAll(() => server.stop())

const seesSecret = async (response: Response | Promise<Response>) =>
  (await (await response).text()).includes(secret)

describe('getting in without a key', () => {
  const tries: [string, Record<string, string>][] = [
    ['nothing', {}],
    ['a made-up key', bearer(`ph_${'a'.repeat(40)}`)],
    ['an empty key', { authorization: 'Bearer ' }],
    ['a hash instead of a key', bearer('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')],
    ['__proto__', bearer('__proto__')],
    ['another Host', { host: 'localhost' }],
    ['headers of proxies', { 'x-forwarded-for': '127.0.0.1', 'x-forwarded-user': 'admin' }],
  ]
  test('is refused, whatever is sent instead of a key', async () => {
    for (const [what, headers] of tries) {
      const response = await server.request('/api/sessions?project=b', { headers })
      expect([what, response.status]).toEqual([what, 401])
    }
  })

  test('works if auth is switched off', async () => {
    switchOff(server.services.gate, 'isAuthOn', false)
    for (const [what, headers] of tries)
      expect([what, await seesSecret(server.request('/api/sessions?project=b', { headers }))]).toEqual([
        what,
        true,
      ])
  })

  test('a login cookie with a foreign signature is refused, and works if that signature is trusted', async () => {
    const logins = server.services.gate.logins!
    const [id] = logins.list(undefined).map((login) => login.id)
    const attacker = new LoginCookies('attacker')
    const forged = { cookie: `playhead_login=${attacker.issue(id!)}` }
    const attack = () => server.request('/api/sessions?project=b', { headers: forged })
    expect((await attack()).status).toBe(401)
    switchOff(logins, 'cookies', attacker)
    expect(await seesSecret(attack())).toBe(true)
  })

  test('an expired cookie is refused, and works if the time is not checked', async () => {
    const logins = server.services.gate.logins!
    const { login, cookie: value } = await logins.start({ address: '', device: '', lastsMs: -1 })
    const attack = () =>
      server.request('/api/sessions?project=b', { headers: { cookie: `playhead_login=${value}` } })
    expect((await attack()).status).toBe(401)
    switchOff(logins, 'find', () => login)
    expect(await seesSecret(attack())).toBe(true)
  })

  test('a copied cookie is refused after the logout, and works if ended logins are not remembered', async () => {
    const started = await server.request('/api/login', { json: { password: PASSWORD } })
    const copied = { cookie: started.headers.get('set-cookie')!.split(';')[0]! }
    const attack = () => server.request('/api/sessions?project=b', { headers: copied })
    expect(await seesSecret(attack())).toBe(true)
    await server.request('/api/logout', { method: 'POST', headers: copied })
    expect((await attack()).status).toBe(401)
    switchOff(server.services.gate.logins!, 'find', () => ({ id: '', device: '', personId: '' }) as never)
    expect(await seesSecret(attack())).toBe(true)
  })
})

describe("another project's sessions", () => {
  const attacks = ['/api/sessions?project=b', '/api/sessions', '/api/values?field=name&project=b']
  const readAll = () =>
    Promise.all(attacks.map((path) => seesSecret(server.request(path, { headers: bearer(keys.a) }))))

  test('cannot be read with the key of another project', async () => {
    expect(await readAll()).toEqual([false, false, false])
  })

  test('can be read if a key may choose its project', async () => {
    const key = server.services.registry.findKey(keys.a!)!
    switchOff(server.services.registry, 'findKey', () => ({ ...key, project: 'b' }))
    expect(await readAll()).toEqual([true, true, true])
  })
})

describe('SQL in a filter', () => {
  const payloads = [
    "x' OR project = 'b",
    "x') OR project = 'b' AND 1 IN (SELECT 1 FROM sessions WHERE '' = '",
    "x') > 0 OR positionCaseInsensitiveUTF8(project, 'b",
    "x'] ) OR hasAll(['b'], [project",
    "'; DROP TABLE steps; --",
    "\\' OR 1=1 --",
    "') UNION ALL SELECT * FROM sessions --",
    '{project:String}',
  ]
  const filters = [
    'status',
    'score',
    'tag',
    'model',
    'tool',
    'agent',
    'error',
    'failedTool',
    'name',
    'user',
    'thread',
  ]
    .concat(['environment', 'branch', 'test', 'testFile', 'runId', 'variant', 'demo', 'cost', 'duration'])
    .concat(['from', 'to', 'text', 'sort', 'order', 'limit', 'cursor'])
  const plainFilters = ['user', 'thread', 'environment', 'branch', 'testFile', 'runId', 'variant']
  const ask = (path: string, filter: string, payload: string) =>
    server.request(
      `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams({ [filter]: payload }).toString()}`,
      {
        headers: bearer(keys.a),
      },
    )

  test('is treated as text in every filter of every route', async () => {
    const seen = await (await server.request('/api/openapi.json')).text()
    for (const filter of filters) expect(seen).toContain(`"name":"${filter}"`)
    const attacks = filters.flatMap((filter, index) => [
      // Each filter gets three of them, and its neighbors get the others.
      ...[0, 1, 2].map((next) => ['/api/sessions', filter, payloads[(index + 2 * next) % payloads.length]!]),
      ['/api/stats', filter, payloads[0]!],
      ['/api/tests', filter, payloads[0]!],
    ]) as [string, string, string][]
    for (const [path, filter, payload] of attacks) {
      const response = await ask(path, filter, payload)
      const text = await response.text()
      expect([path, filter, payload, text.includes(secret)]).toEqual([path, filter, payload, false])
      expect([200, 400]).toContain(response.status)
    }
    expect(await seesSecret(server.request('/api/sessions', { headers: bearer(keys.b) }))).toBe(true)
  })

  test('reads any project if values are written into the statement', async () => {
    const { client } = server.services.store
    const query = client.query.bind(client)
    const naive = (options: Parameters<typeof query>[0]) =>
      query({
        ...options,
        query: options.query.replaceAll(/\{(\w+):String\}/g, (whole, name: string) => {
          const value = options.query_params?.[name]
          return typeof value === 'string' ? `'${value}'` : whole
        }),
      })
    switchOff(client, 'query', naive as typeof client.query)
    // The newest sessions are listed from memory. Some statements name the project once, others again in a subquery.
    const seesSecretBy = async (filter: string) =>
      (await seesSecret(ask('/api/sessions?limit=1&order=asc', filter, payloads[0]!))) ||
      (await seesSecret(ask('/api/sessions?limit=1&order=asc', filter, payloads[1]!)))
    for (const filter of plainFilters) expect([filter, await seesSecretBy(filter)]).toEqual([filter, true])
  })
})

test('guesses are compared as hashes, in constant time', () => {
  onTestFinished(syncBuiltinESMExports)
  const compared: number[][] = []
  const constantTime = crypto.timingSafeEqual
  switchOff(crypto, 'timingSafeEqual', (left, right) => {
    compared.push([left.byteLength, right.byteLength])
    return constantTime(left, right)
  })
  syncBuiltinESMExports()
  const cookies = new LoginCookies('correct horse')
  expect(['', 'c', 'correct hors', 'correct horse'].map((guess) => cookies.isPassword(guess))).toEqual([
    false,
    false,
    false,
    true,
  ])
  expect(compared).toEqual(Array.from({ length: 4 }, () => [32, 32]))
})

test('reports contain no secrets; the check finds them if they did', async () => {
  const wrong = `wrong ${hex(8)}`
  await server.request('/api/login', { json: { password: wrong } })
  switchOff(server.services.reader, 'readSession', () => Promise.reject(new Error('made to fail')))
  const response = await server.request(`/api/sessions/${hex(16)}`, {
    headers: { ...bearer(keys.a), cookie },
  })
  expect(response.status).toBe(500)
  const leaks = (text: string) =>
    [keys.a!, keys.b!, PASSWORD, wrong, cookie].filter((word) => text.includes(word))
  expect(server.reports.join('\n')).toContain('made to fail')
  expect(leaks(server.reports.join('\n'))).toEqual([])
  expect(leaks(`GET /api/sessions authorization: Bearer ${keys.a}`)).toEqual([keys.a])
})
