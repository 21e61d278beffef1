import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { AuditLog } from '../src/access/audit.ts'
import type { AuditEntry } from '../src/api/schemas/audit.ts'
import { bearer, PASSWORD, startLockedServer } from './locked-server.ts'
import { hex, tracesPayload } from './otlp.ts'
import { switchOff } from './switch-off.ts'
import type { TestServer } from './test-server.ts'

let server: TestServer
let cookie: string
let keys: Record<string, string>

beforeAll(async () => {
  ;({ server, cookie, keys } = await startLockedServer())
})
afterAll(() => server.stop())

type Page = { entries: AuditEntry[]; nextCursor?: string }

async function readAudit(query = '', headers: Record<string, string> = { cookie }): Promise<Page> {
  const response = await server.request(`/api/audit?${query}`, { headers })
  expect(response.status).toBe(200)
  return (await response.json()) as Page
}

const brief = ({ action, project, caller, subject, detail }: AuditEntry) =>
  [action, project, caller.kind, caller.name, caller.address, subject, detail] as const

const person = ['person', 'node', '127.0.0.1'] as const

test('says who did what: logins, keys, settings, deletions and backups', async () => {
  const before = (await readAudit('limit=1')).entries[0]!
  const change = (path: string, method: string, json?: unknown) =>
    server.request(path, { method, headers: { cookie }, ...(json !== undefined && { json }) })
  await server.request('/api/login', { json: { password: 'wrong' } })
  const login = await server.request('/api/login', {
    json: { password: PASSWORD },
    headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' },
  })
  const firefox = login.headers.get('set-cookie')!.split(';')[0]!
  await server.request('/api/logout', { method: 'POST', headers: { cookie: firefox } })
  const created = await change('/api/keys?project=a', 'POST', { name: 'ci', scopes: ['ingest'] })
  const { key, secret } = (await created.json()) as { key: { id: string }; secret: string }
  await change(`/api/keys/${key.id}?project=a`, 'DELETE')
  await server.request('/v1/traces', { json: tracesPayload([{}]), headers: bearer(secret) })
  await change('/api/projects', 'POST', { id: 'new', name: 'New' })
  await change('/api/projects/new', 'PATCH', {
    name: 'Newer',
    retentionDays: 30,
    priceOverrides: [{ model: 'm', inputPerMillion: 1, outputPerMillion: 2 }],
  })
  const ids = [hex(16), hex(16)]
  await server.request('/api/sessions/delete?project=a', { json: { ids }, headers: bearer(keys.a) })
  const backup = await (await change('/api/backup', 'GET')).arrayBuffer()
  await server.request('/api/restore', { method: 'POST', body: backup, headers: { cookie } })
  await (await change('/api/reprice?project=b', 'POST')).text()

  const { entries } = await readAudit()

  const mine = entries.slice(
    0,
    entries.findIndex(({ id }) => id === before.id),
  )
  expect(mine.toReversed().map(brief)).toEqual([
    ['login.failed', null, 'anyone', 'node', '127.0.0.1', '', ''],
    ['login.started', null, 'person', 'Firefox on Linux', '127.0.0.1', '', ''],
    ['login.ended', null, 'person', 'Firefox on Linux', '127.0.0.1', 'Firefox on Linux', ''],
    ['key.created', 'a', ...person, 'ci', 'ingest; never expires'],
    ['key.revoked', 'a', ...person, 'ci', ''],
    ['key.refused', 'a', 'key', 'ci', '127.0.0.1', 'ci', expect.stringMatching(/^revoked 20/)],
    ['project.created', 'new', ...person, 'New', ''],
    ['project.changed', 'new', ...person, 'Newer', 'name: Newer; retention: 30 days; prices: m 1/2'],
    ['sessions.deleted', 'a', 'key', 'all', '127.0.0.1', ids.join(', '), '2 sessions'],
    ['backup.downloaded', null, ...person, '', ''],
    ['backup.restored', null, ...person, '', expect.stringMatching(/^\d+ sessions, \d+ steps, no keys$/)],
    ['sessions.repriced', 'b', ...person, '', ''],
  ])
  expect(mine.every(({ id, at }) => /^[0-9a-f-]{36}$/.test(id) && !Number.isNaN(Date.parse(at)))).toBe(true)
  const all = JSON.stringify(entries)
  for (const hidden of [secret, PASSWORD, 'wrong', cookie]) expect(all).not.toContain(hidden)
})

test('is read in pages, and filtered', async () => {
  for (let index = 0; index < 5; index++)
    await server.request('/api/projects/b', {
      method: 'PATCH',
      json: { name: `B ${index}` },
      headers: { cookie },
    })
  const { entries: all } = await readAudit('project=b&limit=1000')
  const paged: AuditEntry[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const page: Page = await readAudit(`project=b&limit=2${cursor && `&cursor=${cursor}`}`)
    expect(page.entries.length).toBeLessThanOrEqual(2)
    paged.push(...page.entries)
    cursor = page.nextCursor
  }
  expect(paged).toEqual(all)
  expect(new Set(all.map(({ project }) => project))).toEqual(new Set(['b']))

  const actions = async (query: string) => (await readAudit(query)).entries.map(({ action }) => action)
  expect(new Set(await actions('action=login'))).toEqual(
    new Set(['login.started', 'login.failed', 'login.ended']),
  )
  expect(new Set(await actions('action=login.failed'))).toEqual(new Set(['login.failed']))
  expect(await actions('text=b%203')).toEqual(['project.changed'])
  expect(await actions(`to=${all.at(-1)!.at}&project=b`)).toEqual([])
  expect(await actions(`from=${all[0]!.at}&project=b`)).toEqual(['project.changed'])
  expect((await server.request('/api/audit?cursor=x', { headers: { cookie } })).status).toBe(400)
})

test('a key with admin scope sees its own project and nothing of the server', async () => {
  const { entries } = await readAudit('', bearer(keys.a))
  expect(entries.length).toBeGreaterThan(0)
  expect(new Set(entries.map(({ project }) => project))).toEqual(new Set(['a']))
  expect((await server.request('/api/audit?project=b', { headers: bearer(keys.a) })).status).toBe(403)
  expect((await server.request('/api/audit')).status).toBe(401)
})

test('a repeated refusal is one entry, and then one with a count', async () => {
  const { client } = server.services.store
  const audit = new AuditLog(client, (line) => server.reports.push(line))
  const address = hex(8)
  const caller = { kind: 'anyone', id: '', name: '', address } as const
  for (let time = 0; time < 50; time++)
    audit.recordRepeatable({ action: 'login.failed', project: null, caller })
  await audit.close()

  expect(
    (await readAudit(`text=${address}`)).entries
      .map(({ action, detail }) => `${action} ${detail}`)
      .toSorted(),
  ).toEqual(['login.failed ', 'login.failed 49 more times'])
})

test('if the store does not take an entry, the request succeeds, the entry is printed, and stored later', async () => {
  const { client } = server.services.store
  const insert = client.insert.bind(client)
  let isDown = true
  switchOff(client, 'insert', (options) =>
    isDown && options.table === 'audit' ? Promise.reject(new Error('gone')) : insert(options),
  )
  const { audit } = server.services.gate
  const name = `Renamed ${hex(4)}`

  const response = await server.request('/api/projects/a', {
    method: 'PATCH',
    json: { name },
    headers: { cookie },
  })

  expect(response.status).toBe(200)
  const printed = server.reports.filter((line) => line.includes(name))
  expect(printed).toEqual([
    expect.stringMatching(/^Audit entry not stored yet \(gone\): \{.*"project.changed"/),
  ])
  expect(audit.pendingCount).toBe(1)
  isDown = false
  await audit.record({
    action: 'project.changed',
    project: 'a',
    caller: { kind: 'server', id: '', name: '', address: '' },
  })
  expect(audit.pendingCount).toBe(0)
  expect((await readAudit(`text=${encodeURIComponent(name)}`)).entries.map(brief)).toEqual([
    ['project.changed', 'a', ...person, name, `name: ${name}`],
  ])
  expect(server.reports.filter((line) => line.includes(name))).toEqual(printed)
})

test('entries are kept for 400 days', async () => {
  const { client } = server.services.store
  onTestFinished(() => client.command({ query: 'SYSTEM START TTL MERGES audit' }).catch(() => {}) as never)
  const dayAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
  const row = { id: hex(16), action: 'key.created', project: 'a', caller_kind: 'key' }
  await client.insert({
    table: 'audit',
    format: 'JSONEachRow',
    values: [
      { ...row, at: dayAgo(399), subject: 'aged 399' },
      { ...row, at: dayAgo(401), subject: 'aged 401' },
    ],
  })
  expect((await readAudit('text=aged')).entries.map(({ subject }) => subject)).toEqual(['aged 399'])
  await client.command({ query: 'OPTIMIZE TABLE audit FINAL' })
  const stored = await client.query({
    query: "SELECT subject FROM audit WHERE subject LIKE 'aged%'",
    format: 'JSONEachRow',
  })
  expect(await stored.json()).toEqual([{ subject: 'aged 399' }])
})
