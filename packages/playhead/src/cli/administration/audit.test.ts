import { expect, test } from 'vitest'
import { startFakeServer } from '../test/fake-server.ts'
import { playhead, playheadOnTerminal } from '../test/run-playhead.ts'

const at = '2026-11-15T09:41:25.831Z'
const entry = {
  id: 'e1',
  at,
  action: 'key.created',
  project: 'shop',
  caller: { kind: 'person', id: 'l1', name: 'Firefox on Linux', address: '10.0.0.7' },
  subject: 'ci',
  detail: 'ingest; never expires',
}
const failed = {
  ...entry,
  id: 'e2',
  action: 'login.failed',
  project: null,
  caller: { kind: 'anyone', id: '', name: 'curl/8.5.0', address: '10.0.0.8' },
  subject: '',
  detail: '',
}

test('audit shows who did what, and reads as many pages as asked for', async () => {
  const pages = [{ entries: [entry], nextCursor: 'next' }, { entries: [failed] }]
  let page = 0
  const { endpoint, received } = await startFakeServer({
    'GET /api/audit': (response) => void response.end(JSON.stringify(pages[page++ % 2])),
  })

  const table = await playheadOnTerminal(['audit', '--action', 'key', '--limit', '600'], {
    endpoint,
    columns: 130,
  })
  const lines = await playhead(['audit'], { endpoint })

  expect(table.stdout).toBe(`\
Time (UTC)           Action        Project  Who                      Address   What
2026-11-15 09:41:25  key.created   shop     person Firefox on Linux  10.0.0.7  ci: ingest; never expires
2026-11-15 09:41:25  login.failed           anyone curl/8.5.0        10.0.0.8
`)
  expect(lines.stdout).toBe(
    `${at}\tkey.created\tshop\tperson\tFirefox on Linux\t10.0.0.7\tci\tingest; never expires\n${at}\tlogin.failed\t\tanyone\tcurl/8.5.0\t10.0.0.8\t\t\n`,
  )
  expect(received.map(({ query }) => query.toString())).toEqual([
    'action=key&limit=500',
    'action=key&limit=500&cursor=next',
    'limit=50',
    'limit=49&cursor=next',
  ])
})

test('audit says when nothing matches', async () => {
  const { endpoint } = await startFakeServer({ 'GET /api/audit': { entries: [] } })
  expect(await playheadOnTerminal(['audit', '--text', 'x'], { endpoint })).toEqual({
    stdout: '',
    stderr: 'No entries match.\n',
    exitCode: 0,
  })
})

const login = {
  id: '5f0c1a9e0b7d4c3fa1b2c3d4e5f60718',
  createdAt: '2020-01-02T03:04:05.000Z',
  expiresAt: '2020-02-02T03:04:05.000Z',
  lastUsedAt: '2020-01-03T03:04:00.000Z',
  address: '10.0.0.7',
  device: 'Firefox on Linux',
  isCurrent: false,
}

test('logins are listed, and ended one by one or all others', async () => {
  const { endpoint, received } = await startFakeServer({
    'GET /api/logins': { logins: [login, { ...login, id: 'b', device: 'Playhead CLI', isCurrent: true }] },
    'DELETE /api/logins/b': { ok: true },
    'POST /api/logins/end-others': { ended: 3 },
  })

  expect((await playheadOnTerminal(['logins', 'list'], { endpoint })).stdout).toBe(`\
ID                                Device            Address   Started     Last used
${login.id}  Firefox on Linux  10.0.0.7  2020-01-02  2020-01-03
b                                 Playhead CLI      10.0.0.7  2020-01-02  now, here
`)
  expect((await playheadOnTerminal(['logins', 'end', 'b'], { endpoint })).stderr).toBe('Ended 1 login.\n')
  expect((await playheadOnTerminal(['logins', 'end', '--others'], { endpoint })).stderr).toBe(
    'Ended 3 logins.\n',
  )
  for (const args of [[], ['b', '--others']])
    expect(await playheadOnTerminal(['logins', 'end', ...args], { endpoint })).toMatchObject({
      stderr: 'playhead: Pass the ids of logins (playhead logins list), or --others.\n',
      exitCode: 2,
    })
  expect(received.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /api/logins',
    'DELETE /api/logins/b',
    'POST /api/logins/end-others',
  ])
})
