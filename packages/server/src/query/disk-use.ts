import type { ClickHouseClient } from '@clickhouse/client'
import { z } from 'zod'
import { freeBytesOf } from '../store/engine/checked-writes.ts'

export const diskSchema = z.object({
  freeBytes: z.number().nullable().describe('in the data directory'),
  tables: z.array(z.object({ name: z.string(), rows: z.number(), bytes: z.number() })),
})

/** How much room the tables take, and how much is left. */
export async function readDisk(
  client: ClickHouseClient,
  directory: string,
): Promise<z.infer<typeof diskSchema>> {
  const result = await client.query({
    query: `SELECT table AS name, sum(rows) AS rows, sum(bytes_on_disk) AS bytes FROM system.parts
      WHERE active AND database = currentDatabase() GROUP BY table ORDER BY bytes DESC`,
    format: 'JSONEachRow',
  })
  const tables = await result.json<{ name: string; rows: number; bytes: number }>()
  const freeBytes = await freeBytesOf(directory).catch(() => undefined)
  return { freeBytes: freeBytes ?? null, tables }
}
