import type { Readable } from 'node:stream'
import type { ClickHouseSettings } from '@clickhouse/client'
import { sessionConditions, type SessionFilter } from '../query/session-filter.ts'
import { queryTables } from '../sql/query-tables.ts'
import type { Store } from '../store/connect.ts'
import { CURRENT_FIRST, rowsBySession } from '../store/steps-table.ts'

export const exportFormats = {
  parquet: { format: 'Parquet', type: 'application/vnd.apache.parquet' },
  csv: { format: 'CSVWithNames', type: 'text/csv; charset=utf-8' },
  jsonl: { format: 'JSONEachRow', type: 'application/x-ndjson' },
} as const

export type ExportFormat = keyof typeof exportFormats
export type ExportTable = 'sessions' | 'steps'

const settings: ClickHouseSettings = {
  max_execution_time: 3_600,
  max_memory_usage: String(900 * 1024 ** 2),
  max_bytes_before_external_sort: String(200 * 1024 ** 2),
  max_block_size: '8192',
  output_format_parquet_compression_method: 'zstd',
  output_format_parquet_row_group_size: '50000',
  date_time_output_format: 'iso',
  output_format_json_quote_64bit_integers: 0,
}

/** The sessions that match a filter, or their steps, as the engine writes them. The columns are those of SQL queries. */
export async function exportTable(
  store: Store,
  project: string,
  { table, format, filter }: { table: ExportTable; format: ExportFormat; filter: Partial<SessionFilter> },
): Promise<Readable> {
  const conditions = sessionConditions(store, project, { ...filter, reruns: filter.reruns ?? 'include' })
  const columns = Object.entries(queryTables[table]!.columns)
  const rows =
    table === 'sessions'
      ? `SELECT ${select(columns)} FROM sessions FINAL WHERE ${conditions.sql} AND is_deleted = 0`
      : `SELECT ${select(columns)} FROM (
          SELECT * FROM ${rowsBySession()}
          WHERE session_id IN (SELECT session_id FROM sessions FINAL WHERE ${conditions.sql} AND is_deleted = 0)
          ORDER BY session_id, step_id, ${CURRENT_FIRST} LIMIT 1 BY session_id, step_id)`
  const query = format === 'csv' ? await withoutFormulas(store, rows, conditions.params) : rows
  return store.exportRows({
    query,
    params: conditions.params,
    format: exportFormats[format].format,
    settings,
  })
}

function select(columns: readonly (readonly [name: string, source: string])[]): string {
  return columns.map(([name, source]) => (name === source ? name : `${source} AS ${name}`)).join(', ')
}

/** What spreadsheets run as a formula. Anyone who talks to an agent can write it, so it gets an apostrophe before it. */
const FORMULA = String.raw`^[=+\\-@\\t\\r]`

async function withoutFormulas(
  { client }: Store,
  rows: string,
  params: Record<string, unknown>,
): Promise<string> {
  const described = await client.query({
    query: `DESCRIBE TABLE (${rows})`,
    query_params: params,
    format: 'JSONEachRow',
  })
  const columns = await described.json<{ name: string; type: string }>()
  const safe = columns.map(({ name, type }) =>
    /^(?:LowCardinality\()?(?:Nullable\()?String/.test(type)
      ? `if(match(${name}, '${FORMULA}'), concat('\\'', ${name}), toString(${name})) AS ${name}`
      : name,
  )
  return `SELECT ${safe.join(', ')} FROM (${rows}) SETTINGS prefer_column_name_to_alias = 1`
}
