import type { ClickHouseClient } from '@clickhouse/client'
import { BadRows } from '../store/bad-rows.ts'
import { expect, test } from 'vitest'
import { VersionClock } from '../store/version-clock.ts'
import { Registry } from './registry.ts'

test('a reload keeps a project that was created while it was reading', async () => {
  const rows: { id: string }[] = []
  let waiting: Promise<void> = Promise.resolve()
  const client = {
    async query({ query }: { query: string }) {
      const found = query.includes('FROM projects') ? [...rows] : []
      if (!query.includes('max(version)')) await waiting
      return { json: async () => found }
    },
    async insert({ values }: { values: { id: string }[] }) {
      rows.push(...values)
    },
  } as unknown as ClickHouseClient
  const store = { client, badRows: new BadRows(() => undefined) }
  const registry = await Registry.open(store, await VersionClock.open(client))

  const reading = Promise.withResolvers<void>()
  waiting = reading.promise
  const reloaded = registry.reload()
  await registry.createProject({ id: 'new', name: 'New' })
  reading.resolve()
  await reloaded

  expect(registry.projects().map(({ id }) => id)).toEqual(['default', 'new'])
})
