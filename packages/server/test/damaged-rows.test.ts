import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashSecret } from '../src/access/secrets.ts'
import { hex, tracesPayload } from './otlp.ts'
import { session } from './project-server.ts'
import { startTestServer, type TestServer } from './test-server.ts'

/** A server that starts with damaged rows in each of its tables, and what it does with them. */
let server: TestServer
let folder: string
const good = hex(16)
const damaged = hex(16)
const secret = 'ph_a-key-that-works'
let revokedSecret: string
let object: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'playhead-damaged-'))
  const before = await startTestServer({ PLAYHEAD_DATA: folder })
  const { client } = before.services.store
  await before.postTraces(tracesPayload([...session({ traceId: good, name: 'good' })]))
  await before.postTraces(tracesPayload([...session({ traceId: damaged, name: 'damaged' })]))
  await before.sessions()
  const project = { name: 'x', created_at: '2026-01-01', price_revision: 1, version: 1 }
  const prices = [
    '{',
    'null',
    '"text"',
    '[5]',
    '[{"model":5}]',
    '[{"model":"m","inputPerMillion":-1,"outputPerMillion":1},{"model":"kept","inputPerMillion":1,"outputPerMillion":2}]',
  ]
  await client.insert({
    table: 'projects',
    format: 'JSONEachRow',
    values: [
      ...prices.map((price_overrides, index) => ({ ...project, id: `prices${index}`, price_overrides })),
      { ...project, id: '../../etc', price_overrides: '[]' },
      { ...project, id: '', price_overrides: '[]' },
      { ...project, id: 'expired', price_overrides: '[]', retention_days: 0 },
    ],
  })
  const key = { project: 'default', name: 'k', hint: 'ph_', created_at: '2026-01-01', version: 1 }
  await client.insert({
    table: 'keys',
    format: 'JSONEachRow',
    values: [
      { ...key, id: 'fine', hash: hashSecret(secret), scopes: ['read'] },
      { ...key, id: 'no-hash', hash: '', scopes: ['admin'] },
      { ...key, id: 'odd-scope', hash: 'a'.repeat(64), scopes: ['root'] },
      { ...key, id: 'no-project', hash: 'b'.repeat(64), project: 'gone', scopes: ['read'] },
    ],
  })
  const revoked = await before.services.registry.createKey({
    project: 'default',
    name: 'r',
    scopes: ['read'],
  })
  revokedSecret = revoked.secret
  await before.services.registry.revokeKey('default', revoked.key.id)
  await client.command({
    query: 'DELETE FROM keys WHERE revoked_at IS NOT NULL',
    clickhouse_settings: { lightweight_deletes_sync: '2' },
  })
  object = await before.services.objects.keep('default', Buffer.from('an object'))
  await writeFile(join(folder, 'objects', 'default', object), 'an 0bject')
  const steps = `INSERT INTO steps SELECT * REPLACE (concat(substring(step_id, 1, 14), {suffix:String}) AS step_id`
  const from = 'FROM steps WHERE session_id = {damaged:String}'
  const columns = [
    "'{' AS outline",
    "'5' AS outline",
    `'{"session":5}' AS outline`,
    `'{"toolRequests":"x"}' AS outline`,
    `'{"session":{"tags":7}}' AS outline`,
    `replaceOne(outline, '"kind":"', '"kind":"non') AS outline`,
    `replaceOne(outline, '"status":"', '"status":"non') AS outline`,
    "'{' AS attributes",
    "'null' AS attributes",
    "'[' AS events",
    `'[{"name":"e","timeNs":"x"}]' AS events`,
    `'{"kind":"llm","status":"ok","span":{"links":7}}' AS outline`,
    "'{' AS resource",
  ]
  for (const [index, column] of columns.entries())
    await client.command({
      query: `${steps}, ${column}) ${from} AND length(step_id) = 16 LIMIT 1`,
      query_params: { damaged, suffix: `z${String.fromCharCode(97 + index)}` },
    })
  await client.command({
    query: `INSERT INTO sessions SELECT * REPLACE ('${hex(16)}' AS session_id, '{' AS card) FROM (SELECT * FROM sessions WHERE session_id = {good:String})`,
    query_params: { good },
  })
  const log = {
    project: 'default',
    session_id: damaged,
    log_id: 'l',
    logged_at: '2026-01-01',
    received_at: '2026-01-01',
  }
  await client.insert({
    table: 'logs',
    format: 'JSONEachRow',
    values: [
      { ...log, log_id: 'a', outline: '{', body: '"x"', attributes: '{}', resource: '{}' },
      { ...log, log_id: 'b', outline: '', body: '{', attributes: '{}', resource: '{}' },
      { ...log, log_id: 'c', outline: '', body: '"x"', attributes: '[]', resource: 'null' },
    ],
  })
  await before.stop()
  server = await startTestServer({ PLAYHEAD_DATA: folder })
})
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true })
})

test('the server starts, and projects keep everything that is well-formed', () => {
  const projects = server.services.registry.projects()
  expect(
    projects
      .map(({ id, priceOverrides, retentionDays }) => [
        id,
        priceOverrides.map(({ model }) => model),
        retentionDays,
      ])
      .toSorted(([left], [right]) => String(left).localeCompare(String(right))),
  ).toEqual([
    ['default', [], null],
    ['expired', [], null],
    ['prices0', [], null],
    ['prices1', [], null],
    ['prices2', [], null],
    ['prices3', [], null],
    ['prices4', [], null],
    ['prices5', ['kept'], null],
  ])
})

test('a damaged key does not work, and the others do', async () => {
  const working = server.services.registry.keys('default').filter(({ revokedAt }) => revokedAt === null)
  expect(working.map(({ id }) => id)).toEqual(['fine'])
  const response = await server.request('/api/sessions', { headers: { authorization: `Bearer ${secret}` } })
  expect(response.status).toBe(200)
})

test('sessions are listed and open, without what is damaged', async () => {
  const names = (await server.sessions()).map(({ name }) => name)
  const { steps } = await server.session(damaged)
  const whole = await server.session(good)

  expect(names.toSorted()).toEqual(['damaged', 'good'])
  expect(whole.steps).toHaveLength(3)
  expect(steps.filter(({ id }) => /^[0-9a-f]+$/.test(id))).toHaveLength(3)
})

test('new spans of a session with damaged rows are stored', async () => {
  await server.postTraces(
    tracesPayload([{ traceId: damaged, name: 'more', startMs: Date.now() - 10, endMs: Date.now() }]),
  )
  expect((await server.session(damaged)).steps.map(({ name }) => name)).toContain('more')
  expect((await server.sessions()).map(({ name }) => name).toSorted()).toEqual(['damaged', 'good'])
})

test('a key stays revoked although the row that revoked it is lost', () => {
  expect(server.services.registry.findKey(revokedSecret)).toMatchObject({
    revokedAt: expect.any(String) as string,
  })
})

test('each is reported in the terminal, in Health and in the metrics', async () => {
  const health = (await (await server.request('/api/health')).json()) as {
    badRows: { count: number; rows: { table: string; id: string; problem: string }[] }
  }
  const { count, rows } = health.badRows

  expect(new Set(rows.map(({ table }) => table))).toEqual(
    new Set(['projects', 'keys', 'steps', 'sessions', 'logs']),
  )
  expect(rows).toContainEqual({
    table: 'keys',
    id: 'odd-scope',
    problem: 'It was left out and does not work: it has the unknown scope "root".',
  })
  expect(rows).toContainEqual({
    table: 'projects',
    id: 'prices1',
    problem: 'Its prices were left out: a column must hold a JSON list of objects, and holds another value',
  })
  expect(server.reports).toHaveLength(count)
  expect(server.reports[0]).toMatch(/^A row of "projects" is damaged \(/)
  expect(await (await server.request('/metrics')).text()).toContain(`playhead_bad_rows_total ${count}`)
})

test('an uploaded object that is not what was stored is kept aside and reported', async () => {
  const { objects, damaged: files } = server.services

  expect(await objects.read({ project: 'default', name: object })).toBeUndefined()
  expect(files.list()).toMatchObject([
    {
      name: `object-${object}`,
      problem: 'An uploaded object of project "default" is damaged: its content does not match its hash.',
    },
  ])
  expect(await readFile(join(folder, 'damaged', `object-${object}`), 'utf8')).toBe('an 0bject')
})
