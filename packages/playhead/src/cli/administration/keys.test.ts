import { expect, test } from 'vitest'
import { sendError, startFakeServer } from '../test/fake-server.ts'
import { playhead, playheadOnTerminal } from '../test/run-playhead.ts'

const key = {
  id: 'dd8a525d-7ed7-4d0c-a869-34baf0f73cc8',
  project: 'default',
  name: 'ci',
  hint: 'ph_WcvQ',
  scopes: ['ingest', 'read'],
  createdAt: '2020-01-02T03:04:05.000Z',
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
}
const expired = {
  ...key,
  id: 'bb',
  name: 'nightly',
  expiresAt: '2020-03-02T03:04:05.000Z',
  lastUsedAt: '2020-03-01T03:04:00.000Z',
}
const revoked = { ...key, id: 'aa', name: 'old', revokedAt: '2020-02-02T03:04:05.000Z' }

test('keys create prints only the secret to stdout', async () => {
  const { endpoint, received } = await startFakeServer({ 'POST /api/keys': { key, secret: 'ph_secret' } })

  const { stdout, stderr, exitCode } = await playhead(
    ['keys', 'create', '--name', 'ci', '--scope', 'ingest', '--scope', 'read', '--project', 'shop'],
    { endpoint },
  )

  expect({ stdout, exitCode }).toEqual({ stdout: 'ph_secret\n', exitCode: 0 })
  expect(stderr).toContain(
    'Created key "ci" in project default with scopes ingest, read. Save the secret now',
  )
  expect(received.map(({ query, body }) => [query.toString(), body.toString()])).toEqual([
    ['project=shop', '{"name":"ci","scopes":["ingest","read"]}'],
  ])
})

test('keys create --uuid makes a secret for AgentOps SDKs', async () => {
  const { endpoint, received } = await startFakeServer({ 'POST /api/keys': { key, secret: key.id } })

  const { stdout } = await playhead(['keys', 'create', '--uuid'], { endpoint })

  expect(stdout).toBe(`${key.id}\n`)
  expect(received.map(({ body }) => body.toString())).toEqual(['{"name":"playhead","format":"uuid"}'])
})

test('keys create --expires takes a duration or a date', async () => {
  const { endpoint, received } = await startFakeServer({ 'POST /api/keys': { key: expired, secret: 's' } })
  const before = Date.now()

  const { stderr } = await playheadOnTerminal(['keys', 'create', '--expires', '30d'], { endpoint })
  await playheadOnTerminal(['keys', 'create', '--expires', '2199-01-31'], { endpoint })

  expect(stderr).toContain('with scopes ingest, read, until 2020-03-02 03:04 UTC. Save the secret now')
  const [inDays, onDate] = received.map(
    ({ body }) => (JSON.parse(body.toString()) as { expiresAt: string }).expiresAt,
  )
  expect(Math.round((Date.parse(inDays!) - before) / 86_400_000)).toBe(30)
  expect(onDate).toBe('2199-01-31T00:00:00.000Z')
  for (const wrong of ['soon', '30', '2020-01-31', '-1d', '0d', '7'])
    expect(await playheadOnTerminal(['keys', 'create', `--expires=${wrong}`], { endpoint })).toEqual({
      stdout: '',
      stderr: `playhead: --expires must be a time in the future such as 12h, 30d or 2027-01-31, not "${wrong}".\n`,
      exitCode: 2,
    })
})

test('keys list shows no secrets', async () => {
  const { endpoint } = await startFakeServer({ 'GET /api/keys': { keys: [key, expired, revoked] } })

  const table = await playheadOnTerminal(['keys', 'list'], { endpoint })
  const lines = await playhead(['keys', 'list'], { endpoint })
  const json = await playheadOnTerminal(['keys', 'list', '--json'], { endpoint })

  expect(table.stdout).toBe(`\
ID                                    Name     Scopes        Last used   State
dd8a525d-7ed7-4d0c-a869-34baf0f73cc8  ci       ingest, read  never       ✓ active
bb                                    nightly  ingest, read  2020-03-01  ✗ expired 2020-03-02
aa                                    old      ingest, read  never       ✗ revoked
`)
  expect(lines.stdout).toBe(
    `${key.id}\tci\tph_WcvQ\tingest,read\t${key.createdAt}\t\t\t\nbb\tnightly\tph_WcvQ\tingest,read\t${key.createdAt}\t\t${expired.expiresAt}\t${expired.lastUsedAt}\naa\told\tph_WcvQ\tingest,read\t${key.createdAt}\t${revoked.revokedAt}\t\t\n`,
  )
  expect(JSON.parse(json.stdout)).toEqual({ keys: [key, expired, revoked] })
})

test('keys revoke takes an id', async () => {
  const { endpoint } = await startFakeServer({ 'DELETE /api/keys/aa': revoked })

  expect(await playheadOnTerminal(['keys', 'revoke', 'aa'], { endpoint })).toEqual({
    stdout: '',
    stderr: 'Revoked key "old" (ph_WcvQ…).\n',
    exitCode: 0,
  })
  expect((await playheadOnTerminal(['keys', 'revoke', 'a/b?c'], { endpoint })).stderr).toBe(
    'playhead: There is no /api/keys/a%2Fb%3Fc.\n',
  )
})

test('with auth on, the password is used to log in and the key is not sent', async () => {
  const { endpoint, received } = await startFakeServer({
    'GET /api/me': { kind: 'nobody', isAuthOn: true },
    'POST /api/login': (response) =>
      void response
        .setHeader('set-cookie', 'playhead_login=abc.def; Max-Age=2592000; Path=/; HttpOnly; SameSite=Strict')
        .end('{"ok":true}'),
    'GET /api/keys': { keys: [] },
  })

  const { stderr } = await playheadOnTerminal(['keys', 'list'], {
    endpoint,
    environment: { PLAYHEAD_PASSWORD: 'open sesame', PLAYHEAD_API_KEY: 'ph_env' },
  })

  expect(stderr).toBe('There are no keys yet. Create one with: playhead keys create --name ci\n')
  expect(
    received.map(({ method, path, headers }) => [method, path, headers.cookie, headers.authorization]),
  ).toEqual([
    ['GET', '/api/me', undefined, undefined],
    ['POST', '/api/login', undefined, undefined],
    ['GET', '/api/keys', 'playhead_login=abc.def', undefined],
  ])
  expect(received[1]!.body.toString()).toBe('{"password":"open sesame","lastsSeconds":3600}')
  expect(received[1]!.headers['user-agent']).toMatch(/^playhead\/\d/)
})

test('with auth off, the password is not sent', async () => {
  const { endpoint, received } = await startFakeServer({
    'GET /api/me': { kind: 'anyone', isAuthOn: false },
    'GET /api/keys': { keys: [] },
  })

  await playheadOnTerminal(['keys', 'list', '--password', 'x'], { endpoint })

  expect(received.map(({ path }) => path)).toEqual(['/api/me', '/api/keys'])
})

test('a wrong or missing password shows the message of the server', async () => {
  const { endpoint } = await startFakeServer({
    'GET /api/me': { kind: 'nobody', isAuthOn: true },
    'POST /api/login': (response) => sendError(response, 401, 'UNAUTHORIZED', 'That is not the password.'),
    'GET /api/keys': (response) => sendError(response, 403, 'FORBIDDEN', 'This key may ingest.'),
  })

  const wrong = await playheadOnTerminal(['keys', 'list', '--password', 'x'], { endpoint })
  const none = await playheadOnTerminal(['keys', 'list', '--api-key', 'ph_x'], { endpoint })

  expect(wrong).toEqual({ stdout: '', stderr: 'playhead: That is not the password.\n', exitCode: 1 })
  expect(none.stderr).toBe(
    "playhead: This key may ingest.\nPass the server's password with --password or PLAYHEAD_PASSWORD.\n",
  )
})
