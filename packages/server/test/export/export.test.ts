import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bearer, startLockedServer } from '../locked-server.ts'
import { tracesPayload } from '../otlp.ts'
import { session } from '../project-server.ts'
import type { TestServer } from '../test-server.ts'

let server: TestServer
let keys: Record<string, string>
let folder: string

beforeAll(async () => {
  ;({ server, keys } = await startLockedServer())
  folder = await mkdtemp(join(tmpdir(), 'playhead-export-'))
  const spans = [
    ...session({ name: '=HYPERLINK("http://evil.example")', tags: ['kept'], prompt: '+1+2' }),
    ...session({ name: 'plain, "quoted"\nname', tags: ['kept'], tokens: [1_000, 10] }),
    ...session({ name: 'left out', error: 'it broke' }),
  ]
  await server.request('/v1/traces', { json: tracesPayload(spans), headers: bearer(keys.a) })
})
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

const download = (query: string, key = keys.a) =>
  server.request(`/api/export?${query}`, { headers: bearer(key) })

test('Parquet has the sums of the API, read with DuckDB', async () => {
  const path = join(folder, 'sessions.parquet')
  await writeFile(path, new Uint8Array(await (await download('tag=kept')).arrayBuffer()))
  const stats = (await (await server.request('/api/stats?tag=kept', { headers: bearer(keys.a) })).json()) as {
    total: number
    cost: number
    usage: { input: number }
  }
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  const result = await connection.runAndReadAll(
    `SELECT count(*)::DOUBLE, sum(cost), sum(input_tokens)::DOUBLE FROM read_parquet('${path}')`,
  )
  const [[count, cost, input] = []] = result.getRows() as number[][]
  expect([count, input]).toEqual([stats.total, stats.usage.input])
  expect(cost).toBeCloseTo(stats.cost, 10)
  connection.closeSync()
})

test('CSV runs no formula in a spreadsheet', async () => {
  const response = await download('tag=kept&format=csv')
  expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  const text = await response.text()
  expect(text).toContain(`"'=HYPERLINK(""http://evil.example"")"`)
  expect(text).toContain(`"'+1+2"`)
  expect(text).toContain('"plain, ""quoted""\nname"')
  expect(text).not.toMatch(/(?:^|,)"?[=+@]/m)
})

test('steps are exported once each, without the steps of other sessions', async () => {
  const text = await (await download('tag=kept&of=steps&format=jsonl')).text()
  const rows = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: string; kind: string; error_message: string; input: string })
  expect([rows.length, new Set(rows.map(({ id }) => id)).size]).toEqual([6, 6])
  expect(rows.some(({ input }) => input.includes('+1+2'))).toBe(true)
  expect(rows.every(({ error_message: message }) => message === '')).toBe(true)
})

test('spans as JSONL, sent to another project, give the same sessions', async () => {
  const text = await (await download('of=spans&format=jsonl')).text()
  const lines = text.trimEnd().split('\n')
  expect(lines).toHaveLength(3)
  for (const line of lines) {
    const headers = { ...bearer(keys.b), 'content-type': 'application/json' }
    await server.request('/v1/traces', { method: 'POST', body: line, headers })
  }
  const read = async (key: string | undefined) => {
    const list = await server.request('/api/sessions?limit=10&sort=cost', { headers: bearer(key) })
    const { sessions } = (await list.json()) as { sessions: { id: string; url: string }[] }
    return Promise.all(
      sessions
        .toSorted((a, b) => a.id.localeCompare(b.id))
        .map(async ({ id }) => {
          const one = await server.request(`/api/sessions/${id}?payloads=all`, { headers: bearer(key) })
          const whole = (await one.json()) as { session: object; steps: object[] }
          return { ...whole, session: { ...whole.session, url: '' } }
        }),
    )
  }
  const [before, after] = [await read(keys.a), await read(keys.b)]
  expect(before).toHaveLength(3)
  expect(after).toEqual(before)
})

test("another project's key gets no rows, a wrong format a sentence, and no file is left behind", async () => {
  expect(await (await download('of=spans&format=parquet')).json()).toMatchObject({
    error: { message: 'Spans are exported as jsonl only: add format=jsonl.' },
  })
  expect(await (await download('format=jsonl&name=left', keys.b)).text()).not.toContain('=HYPERLINK')
  expect((await server.request('/api/export')).status).toBe(401)
  await expect
    .poll(async () =>
      (await readdir(join(server.dataDirectory, 'inbox'))).filter((file) => file.startsWith('export-')),
    )
    .toEqual([])
})
