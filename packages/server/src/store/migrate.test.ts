import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { connectStore } from './connect.ts'
import { migrations, renderSchema } from './migrate.ts'

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
