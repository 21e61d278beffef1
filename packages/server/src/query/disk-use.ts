import type { ClickHouseClient } from '@clickhouse/client'
import type { ApiResponses } from '../api/schemas/responses.ts'
import { freeBytesOf } from '../store/engine/checked-writes.ts'

/** The size of each table, and the free space in the data directory. */
export async function readDisk(
  client: ClickHouseClient,
  directory: string,
): Promise<ApiResponses['GET /api/health']['disk']> {
  const result = await client.query({
    query: `SELECT table AS name, sum(rows) AS rows, sum(bytes_on_disk) AS bytes FROM system.parts
      WHERE active AND database = currentDatabase() GROUP BY table ORDER BY bytes DESC`,
    format: 'JSONEachRow',
  })
  const tables = await result.json<{ name: string; rows: number; bytes: number }>()
  const freeBytes = await freeBytesOf(directory).catch(() => undefined)
  return { freeBytes: freeBytes ?? null, tables }
}
