import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { connectStore } from './connect.ts'
import { migrate, migrations, renderSchema } from './migrate.ts'

const directory = await mkdtemp(join(tmpdir(), 'playhead-schema-'))
const store = await connectStore({ path: directory, report: () => undefined })
afterAll(async () => {
  await store.close()
  await rm(directory, { recursive: true })
})

const statements = migrations().flatMap(({ template }) => renderSchema(template, 'my_cluster'))

describe('the schema of a cluster', () => {
  test.each(statements.map((statement) => [statement.slice(0, 70).replaceAll(/\s+/g, ' '), statement]))(
    '%s…',
    async (_, statement) => {
      const result = await store.client.query({ query: `EXPLAIN AST ${statement}`, format: 'JSONEachRow' })
      expect(await result.text()).toMatch(/CreateQuery|AlterQuery/)
      expect(statement).toContain("ON CLUSTER 'my_cluster'")
      expect(statement).not.toMatch(/\[\[|\]\]/)
    },
  )

  test('has every table of a single node, replicated for storage and distributed for reading', () => {
    const single = migrations().flatMap(({ template }) => renderSchema(template, undefined))
    const nameOf = (statement: string) => /CREATE TABLE IF NOT EXISTS (\w+)/.exec(statement)?.[1]
    const names = statements.map(nameOf)

    for (const statement of single) {
      const name = nameOf(statement)
      if (name === undefined) continue
      const own = statements[names.indexOf(name)]!
      expect(own).toMatch(/ENGINE = (Distributed|Replicated)/)
      if (own.includes('Distributed'))
        expect(statements[names.indexOf(`${name}_local`)]).toContain('ENGINE = Replicated')
      expect(statement).not.toMatch(/Replicated|Distributed|ON CLUSTER|_local/)
    }
  })
})

test('each migration has a number of its own, and they are applied in its order', () => {
  const versions = migrations().map(({ version }) => version)
  expect(versions).toEqual([...new Set(versions)].sort((left, right) => left - right))
})

test('a single node adds a column once, a cluster to the local and the distributed table', () => {
  const addsTo = (table: string, cluster?: string) =>
    migrations()
      .flatMap(({ template }) => renderSchema(template, cluster))
      .filter((statement) => statement.startsWith(`ALTER TABLE ${table} `) && /ADD COLUMN/.test(statement))
      .length
  expect(addsTo('steps')).toBe(1)
  expect([addsTo('steps_local', 'c'), addsTo('steps', 'c')]).toEqual([1, 1])
  expect(addsTo('sessions')).toBe(addsTo('sessions_local', 'c'))
  expect(addsTo('projects')).toBe(addsTo('projects', 'c'))
})

describe('a store of an earlier schema', () => {
  const versions = migrations().map(({ version }) => version)
  const statementsOf = (version: number) =>
    renderSchema(migrations().find((migration) => migration.version === version)!.template, undefined)

  const run = (query: string) => store.client.command({ query })
  const read = async <Row>(query: string) =>
    (await store.client.query({ query, format: 'JSONEachRow' })).json<Row>()
  const columns = () =>
    read<{ table: string; name: string; type: string }>(
      `SELECT table, name, type FROM system.columns WHERE database = currentDatabase() AND table NOT LIKE '.%' ORDER BY table, name`,
    )

  /** An empty store as the version with this schema left it. */
  async function startAt(version: number): Promise<void> {
    const tables = await read<{ name: string }>(
      'SELECT name FROM system.tables WHERE database = currentDatabase()',
    )
    for (const { name } of tables) await run(`DROP TABLE \`${name}\` SYNC`)
    await migrate(store, async () => undefined, version)
    await run(
      `INSERT INTO steps (project, session_id, step_id, started_at, kind, name) VALUES ('p', 's', 'a', 1, 'llm', 'chat')`,
    )
    await run(
      `INSERT INTO sessions (project, bucket, session_id, version, name) VALUES ('p', 1, 's', 1, 'agent')`,
    )
    await run(`INSERT INTO projects (id, name, version) VALUES ('p', 'Project', 1)`)
    await run(`INSERT INTO keys (id, project, name, version) VALUES ('k', 'p', 'ci', 1)`)
  }

  test.each(versions.slice(0, -1))(
    '%i is brought up to date, also when the server was killed halfway, and keeps its rows',
    async (version) => {
      const current = await columns()
      await startAt(version)
      const next = statementsOf(versions.find((later) => later > version)!)
      // The kill came after these; nothing says that they were applied.
      for (const statement of next.slice(0, Math.ceil(next.length / 2))) await run(statement)

      await migrate(store, async () => undefined)
      const hasIndex = async () =>
        (
          await read(
            "SELECT 1 FROM system.data_skipping_indices WHERE table = 'steps' AND name = 'text_index'",
          )
        ).length === 1
      // Until the words of its steps are built, searches need it.
      expect(await hasIndex()).toBe(version < 22)
      await run("INSERT INTO word_backlog (id, before, version) VALUES (0, '1970-01-01 00:00:00', 2)")
      await migrate(store, async () => undefined)
      expect(await hasIndex()).toBe(false)

      expect(await columns()).toEqual(current)
      expect(await read('SELECT version FROM migrations ORDER BY version')).toEqual(
        versions.map((applied) => ({ version: applied })),
      )
      expect(await read('SELECT name FROM steps')).toEqual([{ name: 'chat' }])
      expect(await read('SELECT name FROM sessions')).toEqual([{ name: 'agent' }])
      expect(await read('SELECT name FROM projects')).toEqual([{ name: 'Project' }])
      expect(await read('SELECT name FROM keys')).toEqual([{ name: 'ci' }])
    },
  )

  test('every migration can be applied again: a kill may come after its last statement', async () => {
    const before = await columns()
    for (const version of versions) for (const statement of statementsOf(version)) await run(statement)
    expect(await columns()).toEqual(before)
  })
})

test('refuses a store that a newer version wrote', async () => {
  await store.client.insert({
    table: 'migrations',
    values: [{ version: 99, name: '0099-future.sql' }],
    format: 'JSONEachRow',
  })
  await store.close()

  await expect(connectStore({ path: directory, report: () => undefined })).rejects.toThrow(
    'written by a newer version of Playhead (schema 99',
  )
})
