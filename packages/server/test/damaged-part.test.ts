import { readFileSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { hex, tracesPayload } from './otlp.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { startTestServer, type TestServer } from './test-server.ts'

type Part = { name: string; path: string; rows: number }

let server: TestServer
afterEach(() => server.stop())

async function start(data: string): Promise<TestServer> {
  server = await startTestServer({ PLAYHEAD_DATA: data })
  return server
}

async function partsOf(table: string): Promise<Part[]> {
  const result = await server.services.store.client.query({
    query: `SELECT name, path, rows FROM system.parts WHERE database = 'playhead' AND table = {table:String} AND active ORDER BY name`,
    query_params: { table },
    format: 'JSONEachRow',
  })
  return result.json<Part>()
}

function flipBit(path: string, share = 0.5): void {
  const bytes = readFileSync(path)
  bytes[Math.floor(bytes.length * share)]! ^= 16
  writeFileSync(path, bytes)
}

async function stepCount(session: string): Promise<number | undefined> {
  const response = await server.request(`/api/sessions/${session}`)
  return response.ok ? ((await response.json()) as { steps: unknown[] }).steps.length : undefined
}

async function damagedFiles(): Promise<{ name: string; problem: string; rows: number | null }[]> {
  const health = (await (await server.request('/api/health')).json()) as { damagedFiles: never[] }
  return health.damagedFiles
}

/** Sends steps of one session, and waits until they are in a part of their own. */
async function storeSteps(session: string, names: readonly string[]): Promise<void> {
  await server.postTraces(
    tracesPayload(names.map((name) => ({ traceId: session, name, endMs: 1_700_000_001_000 }))),
  )
  await server.services.drain()
}

/** A merge on a full disk leaves such files behind. */
test.each(['data.cmrk4', 'data.bin'])(
  'after damage to %s of a merged part, reads fail with 503 first and then find everything',
  async (file) => {
    await start(await temporaryFolder())
    const session = hex(16)
    for (const name of ['one', 'two', 'three']) await storeSteps(session, [name])
    const { client } = server.services.store
    await client.command({ query: 'OPTIMIZE TABLE steps FINAL' })
    const [merged] = await partsOf('steps')
    truncateSync(join(merged!.path, file), file === 'data.bin' ? 100 : 0)
    await client.command({ query: 'SYSTEM DROP MARK CACHE' })

    const refused = await server.request(`/api/sessions/${session}`)
    expect(refused.status).toBe(503)
    expect(await refused.json()).toMatchObject({ error: { code: 'STORE_UNAVAILABLE' } })

    await expect.poll(() => stepCount(session)).toBe(3)
    expect(server.services.store.engine?.restarts).toBe(1)
    expect(await damagedFiles()).toMatchObject([{ name: `store-steps-${merged!.name}`, rows: 0 }])
    expect(server.reports).toEqual([
      expect.stringMatching(
        new RegExp(
          `^part ${merged!.name} of the table steps is damaged .* All its rows were saved\\. The damaged file is kept: `,
        ),
      ),
    ])
  },
)

test('a flipped bit in a part costs the rows around it; the others are saved, and the loss is reported everywhere', async () => {
  await start(await temporaryFolder())
  const names = Array.from({ length: 3_000 }, (_, index) => `step ${index} ${hex(40)}`)
  const session = hex(16)
  await storeSteps(session, names)
  const [part] = await partsOf('steps')
  expect(part!.rows).toBe(3_000)
  flipBit(join(part!.path, 'data.bin'), 0.01)
  await server.services.store.client.command({ query: 'SYSTEM DROP MARK CACHE' })

  await server.services.store.repair!.checkAll()

  const [file] = await damagedFiles()
  expect(file).toMatchObject({ name: `store-steps-${part!.name}` })
  expect(file!.rows).toBeGreaterThan(0)
  expect(file!.rows).toBeLessThanOrEqual(1_024 + 64)
  expect(await stepCount(session)).toBe(3_000 - file!.rows!)
  expect(readdirSync(join(server.dataDirectory, 'damaged', file!.name))).toContain('data.bin')
  const metrics = await (await server.request('/metrics')).text()
  expect(metrics).toContain('playhead_damaged_files 1\n')
  expect(metrics).toContain(`playhead_damaged_rows ${file!.rows}\n`)
})

test('a part that the engine drops at the start is reported, and lost sessions are computed again', async () => {
  const data = await temporaryFolder()
  await start(data)
  const session = hex(16)
  await storeSteps(session, ['one', 'two'])
  const [steps] = await partsOf('steps')
  const [sessions] = await partsOf('sessions')
  await server.stop()
  flipBit(join(sessions!.path, 'columns.txt'))

  await start(data)
  await server.services.store.repair!.checkAll()

  expect(await server.sessions()).toMatchObject([{ id: session, stepCount: 2 }])
  expect(await damagedFiles()).toMatchObject([
    {
      name: `store-sessions-broken-on-start_${sessions!.name}`,
      problem: `the engine could not load part ${sessions!.name} of the table sessions. Its 1 row is lost. They are computed from the steps again.`,
      rows: 1,
    },
  ])
  await server.stop()
  flipBit(join(steps!.path, 'columns.txt'))

  await start(data)

  expect(await damagedFiles()).toMatchObject([
    {},
    { name: `store-steps-broken-on-start_${steps!.name}`, rows: 2 },
  ])
  expect(server.reports).toHaveLength(1)
})

test('a part that claims to be empty, which the engine would delete, gets its number of rows back', async () => {
  const data = await temporaryFolder()
  await start(data)
  const session = hex(16)
  await storeSteps(session, ['one'])
  const [part] = await partsOf('steps')
  await server.stop()
  writeFileSync(join(part!.path, 'count.txt'), '0')

  await start(data)
  await server.services.store.repair!.checkAll()

  expect(await stepCount(session)).toBe(1)
  expect(await damagedFiles()).toMatchObject([{ name: `${part!.name}-count.txt`, rows: 0 }])
})

test('damage to what the server reads at its start does not keep it from starting', async () => {
  const data = await temporaryFolder()
  await start(data)
  await storeSteps(hex(16), ['one'])
  const paths = await Promise.all(
    ['projects', 'migrations', 'sessions'].map(async (table) => (await partsOf(table))[0]!.path),
  )
  await server.stop()
  for (const path of paths) flipBit(join(path, 'data.bin'), 0.1)
  for (const file of ['steps.sql', 'keys.sql'])
    flipBit(join(data, 'store/tables/metadata/playhead', file), 0.3)

  await start(data)

  expect(
    server.reports.map((line) => line.split(' The damaged file is kept', 1)[0]!.split(' is damaged')[0]),
  ).toEqual(
    expect.arrayContaining([
      'tables/metadata/playhead/steps.sql, which defines a table of the store, was damaged. It was restored; nothing is lost.',
      'tables/metadata/playhead/keys.sql, which defines a table of the store, was damaged. It was restored; nothing is lost.',
    ]),
  )
  expect((await damagedFiles()).map(({ name }) => name.replace(/_.*/, '')).toSorted()).toEqual([
    'store-migrations-all',
    'store-projects-all',
    'store-sessions-all',
    'tables-metadata-playhead-keys.sql',
    'tables-metadata-playhead-steps.sql',
  ])
})

test('a table that is renamed or dropped while it is checked is not damaged', async () => {
  await start(await temporaryFolder())
  const { client, engine, repair } = server.services.store
  for (const table of ['incoming_a', 'incoming_b'])
    await client.command({ query: `CREATE TABLE ${table} ENGINE = MergeTree ORDER BY n AS SELECT 1 AS n` })
  const changes: Record<string, string> = {
    incoming_a: 'RENAME TABLE incoming_a TO restored_a',
    incoming_b: 'DROP TABLE incoming_b SYNC',
  }
  const query = client.query.bind(client)
  vi.spyOn(client, 'query').mockImplementation(async (options) => {
    const change = changes[/^CHECK TABLE (\w+)/.exec(options.query)?.[1] ?? '']
    if (change !== undefined) await client.command({ query: change })
    return query(options)
  })

  await repair!.checkAll()

  expect(await partsOf('restored_a')).toMatchObject([{ rows: 1 }])
  expect(await partsOf('incoming_b')).toEqual([])
  expect([engine!.restarts, server.reports, await damagedFiles()]).toEqual([0, [], []])
})
