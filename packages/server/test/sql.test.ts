import { writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writeTables } from '../src/sql/query-tables.ts'
import { limits } from '../src/sql/run-query.ts'
import { bearer, startLockedServer } from './locked-server.ts'
import { tracesPayload } from './otlp.ts'
import { session } from './project-server.ts'
import type { TestServer } from './test-server.ts'

let server: TestServer
let keys: Record<string, string>
let readKey: string
let web: Server
let webUrl: string
let requests = 0

beforeAll(async () => {
  ;({ server, keys } = await startLockedServer())
  const created = await server.request('/api/keys', {
    json: { name: 'sql', scopes: ['read'] },
    headers: bearer(keys.a),
  })
  readKey = ((await created.json()) as { secret: string }).secret
  for (const [project, name] of [
    ['a', 'mine'],
    ['a', 'mine too'],
    ['b', 'of another project'],
  ] as const)
    await server.request('/v1/traces', {
      json: tracesPayload(
        session({ name, tool: `tool of ${project}`, ...(name === 'mine' && { error: 'it broke' }) }),
      ),
      headers: bearer(keys[project]),
    })
  web = createServer((_, response) => {
    requests += 1
    response.end('from the web\n')
  })
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  webUrl = `http://127.0.0.1:${(web.address() as AddressInfo).port}/`
  await writeFile(join(server.dataDirectory, 'secret.txt'), 'a secret\n')
  await query('SELECT 1')
})
afterAll(async () => {
  web.close()
  await server.stop()
})

async function query(sql: string, { key = readKey, limit = 100 } = {}) {
  const response = await server.request('/api/query', { json: { sql, limit }, headers: bearer(key) })
  const body = (await response.json()) as {
    rows?: unknown[][]
    isTruncated?: boolean
    error?: { code: string; message: string }
  }
  return { status: response.status, ...body }
}

/** Without any guard: what the engine would do. */
const raw = (sql: string) =>
  server.services.store.client.exec({ query: sql }).then(({ stream }) => stream.resume())

test('reads sessions, calls, errors and steps of its project', async () => {
  expect((await query('SELECT name, state, errors FROM sessions ORDER BY name')).rows).toEqual([
    ['mine', 'fail', 1],
    ['mine too', 'success', 0],
  ])
  expect((await query('SELECT name, sum(failed) FROM actions GROUP BY name')).rows).toEqual([
    ['tool of a', 1],
  ])
  expect(
    (await query('SELECT model, count(), sumIf(cost, cost > 0) > 0 FROM llm_calls GROUP BY model')).rows,
  ).toEqual([['gpt-4o', 2, 1]])
  expect((await query('SELECT type, message FROM errors')).rows).toEqual([['ValueError', 'it broke']])
  const joined = await query(`
    -- a comment; with a semicolon
    WITH failed AS (SELECT id FROM sessions WHERE state = 'fail')
    SELECT kind, JSONExtractString(attributes, 'gen_ai.tool.name') AS tool, row_number() OVER (ORDER BY kind) AS n
    FROM steps WHERE session_id IN (SELECT id FROM failed) ORDER BY kind;`)
  expect(joined.rows).toEqual([
    ['action', 'tool of a', 1],
    ['agent', '', 2],
    ['llm', '', 3],
  ])
})

test('keeps the order, and says when there are more rows', async () => {
  const { rows, isTruncated } = await query('SELECT kind FROM steps ORDER BY kind DESC', { limit: 2 })
  expect([rows, isTruncated]).toEqual([[['llm'], ['llm']], true])
})

test('a condition on session_id reads that session, and a count reads no attributes', async () => {
  const { client } = server.services.store
  const explain = async (statement: string) => {
    const result = await client.query({
      query: `EXPLAIN indexes = 1, header = 1 ${writeTables('playhead')} ${statement}`,
      query_params: { project: 'a', nowMs: Date.now() },
      format: 'JSONEachRow',
    })
    return (await result.json<{ explain: string }>()).map((row) => row.explain).join('\n')
  }
  expect(await explain("SELECT id FROM steps WHERE session_id = 'x'")).toContain("(session_id in ['x', 'x'])")
  expect(await explain('SELECT count() FROM steps')).not.toMatch(/attributes|outline/)
  expect(await explain('SELECT attributes FROM steps')).toMatch(/attributes/)
})

test('says what is wrong with a statement', async () => {
  expect(await query('SELEC 1')).toMatchObject({
    status: 400,
    error: { code: 'SQL_REFUSED', message: expect.stringContaining('Syntax error') },
  })
  const { error } = await query('SELECT nothing FROM sessions')
  expect(error?.message).toContain('nothing')
  expect(error?.message).not.toContain('project')
})

/** Each is refused by the check of the statement, and would work without it. */
const attempts: [name: string, sql: string | (() => string), says: string][] = [
  ['a table of the store', 'SELECT * FROM playhead.keys', 'name tables without a database'],
  ["another project's rows", 'SELECT * FROM playhead.sessions', 'name tables without a database'],
  ['quoted names', 'SELECT * FROM `playhead`.`keys`', 'name tables without a database'],
  ['a system table', 'SELECT * FROM system.tables', 'name tables without a database'],
  ['a subquery', 'SELECT * FROM (SELECT hash FROM playhead.keys)', 'name tables without a database'],
  [
    'a common table expression',
    'WITH x AS (SELECT * FROM playhead.logins) SELECT * FROM x',
    'name tables without a database',
  ],
  [
    'a join',
    'SELECT * FROM system.one AS a JOIN playhead.projects AS b ON 1 = 1',
    'name tables without a database',
  ],
  ['a union', 'SELECT 1 UNION ALL SELECT count() FROM playhead.keys', 'name tables without a database'],
  ['a table on the right of IN', "SELECT 'x' IN playhead.migrations.name", 'must be a list or a subquery'],
  ['a scalar subquery', 'SELECT (SELECT max(hash) FROM playhead.keys)', 'name tables without a database'],
  [
    'a file',
    () => `SELECT * FROM file('${join(server.dataDirectory, 'secret.txt')}', 'LineAsString')`,
    'table functions are off',
  ],
  ['the web', () => `SELECT * FROM url('${webUrl}', 'LineAsString')`, 'table functions are off'],
  ['a merge of tables', "SELECT count() FROM merge('playhead', '^keys$')", 'table functions are off'],
  ['a view function', 'SELECT * FROM view(SELECT * FROM playhead.keys)', 'table functions are off'],
  ['endless numbers', 'SELECT * FROM numbers(3)', 'table functions are off'],
  ['a setting', 'SELECT 1 FROM system.one SETTINGS max_execution_time = 0', 'in readonly mode'],
  ['a setting of a subquery', 'SELECT * FROM (SELECT 1 SETTINGS readonly = 0)', 'SETTINGS'],
  ['another format', 'SELECT 1 FORMAT CSV', 'without FORMAT'],
  [
    'a file to write',
    () => `SELECT 1 INTO OUTFILE '${join(server.dataDirectory, 'written.txt')}'`,
    'without FORMAT',
  ],
  ['an insert', "INSERT INTO playhead.migrations (version, name) VALUES (0, 'x')", 'begins with SELECT'],
  ['a new table', 'CREATE TABLE playhead.mine (a String) ENGINE = Memory', 'begins with SELECT'],
  ['a dropped table', 'DROP TABLE playhead.mine', 'begins with SELECT'],
  ['a changed setting', 'SET max_threads = 1', 'begins with SELECT'],
  ['a list of tables', 'SHOW TABLES FROM playhead', 'begins with SELECT'],
  ['a description', 'DESCRIBE TABLE playhead.keys', 'begins with SELECT'],
  ['a plan', 'EXPLAIN SELECT * FROM playhead.keys', 'begins with SELECT'],
  ['two statements', 'SELECT 1; SELECT * FROM playhead.keys', 'Multi-statements'],
  ['a function that sleeps', 'SELECT sleep(0.01)', 'The function sleep is not available'],
  ['the name of the host', 'SELECT hostName()', 'The function hostName is not available'],
  ['a setting of the server', "SELECT getSetting('max_threads')", 'The function getSetting is not available'],
  [
    'the columns of a table',
    "SELECT hasColumnInTable('playhead', 'keys', 'hash')",
    'hasColumnInTable is not available',
  ],
  ['the user', 'SELECT currentUser()', 'The function currentUser is not available'],
  ['a parser in a parser', "SELECT formatQuery('SELECT 1')", 'The function formatQuery is not available'],
]

test.each(attempts)('%s works on the bare engine and is refused here', async (_, statement, says) => {
  const sql = typeof statement === 'string' ? statement : statement()
  const before = requests
  const { status, error } = await query(sql)
  expect([status, error?.code, requests]).toEqual([400, 'SQL_REFUSED', before])
  expect(error?.message).toContain(says)
  if (!sql.includes('OUTFILE') && !sql.includes('.name')) await expect(raw(sql)).resolves.toBeDefined()
})

describe('names that would forge the syntax tree', () => {
  test.each([
    'SELECT `a\n Literal UInt64_1` IN playhead.keys FROM sessions',
    'SELECT 1 AS `x) (children 1)\n Literal 1`',
    'SELECT 1) UNION ALL SELECT * FROM (SELECT hash FROM playhead.keys',
    'SELECT {project:Identifier} FROM sessions',
  ])('%s', async (sql) => {
    expect(await query(sql)).toMatchObject({ status: 400, error: { code: 'SQL_REFUSED' } })
  })
})

describe('without the check of the statement, the engine itself still refuses', () => {
  test.each([
    ['a write', "INSERT INTO playhead.migrations (version, name) VALUES (0, 'x')", /readonly/i],
    ['a new table', 'CREATE TABLE playhead.other (a String) ENGINE = Memory', /readonly|DDL/i],
    ['a file', "SELECT * FROM file('secret.txt', 'LineAsString')", /readonly/i],
    ['the web', "SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')", /readonly/i],
    ['a table by its bare name', 'SELECT * FROM keys', /unknown table/i],
    ['too many rows', 'SELECT number FROM system.numbers LIMIT 5000', /limit for result|rows/i],
    [
      'too much memory',
      'SELECT groupArray(repeat(toString(number), 1000)) FROM system.numbers LIMIT 1',
      /memory|limit/i,
    ],
    ['a setting that is raised', 'SELECT 1 SETTINGS max_execution_time = 1000', /readonly/i],
  ])('%s', async (_, sql, says) => {
    const client = server.services.store.openDatabase('playhead_sql')
    const run = client.query({
      query: sql,
      clickhouse_settings: { ...limits, max_execution_time: 3 },
      format: 'JSONEachRow',
    })
    await expect(run.then((result) => result.text())).rejects.toThrow(says)
    await client.close()
  })
})

test("a key of one project never sees another's rows, and a key without `read` sees none", async () => {
  const names = await query('SELECT name FROM sessions', { key: keys.b! })
  expect(names.rows).toEqual([['of another project']])
  const steps = await query('SELECT DISTINCT tool FROM steps', { key: keys.b! })
  expect(steps.rows?.flat().toSorted()).toEqual(['', 'tool of b'])
  const created = await server.request('/api/keys', {
    json: { name: 'ingest', scopes: ['ingest'] },
    headers: bearer(keys.a),
  })
  const { secret } = (await created.json()) as { secret: string }
  expect((await query('SELECT 1', { key: secret })).status).toBe(403)
  const other = await server.request('/api/query?project=b', {
    json: { sql: 'SELECT 1' },
    headers: bearer(readKey),
  })
  expect(other.status).toBe(403)
})

test('a query that takes too long is ended', async () => {
  const started = performance.now()
  const { status, error } = await query(
    `SELECT count() FROM ${'a b c d e f g h i j k l m n o p q r s t'
      .split(' ')
      .map((name) => `steps ${name}`)
      .join(', ')} WHERE cityHash64(a.id, t.id) = 1`,
  )
  expect([status, error?.code]).toEqual([400, 'SQL_REFUSED'])
  expect(performance.now() - started).toBeLessThan(40_000)
})
