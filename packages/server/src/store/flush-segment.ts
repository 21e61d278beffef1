import { ClickHouseError, type ClickHouseSettings } from '@clickhouse/client'
import type { Segment } from '../log/segment-file.ts'
import type { PermanentError } from '../log/flush-queue.ts'
import type { Store } from './connect.ts'
import { insertWords } from './words-table.ts'

/** Errors that mean the segment itself is bad, so that no retry can succeed. */
const permanentCodes = new Set([
  '6', // CANNOT_PARSE_TEXT
  '16', // NO_SUCH_COLUMN_IN_TABLE
  '27', // CANNOT_PARSE_INPUT_ASSERTION_FAILED
  '33', // CANNOT_READ_ALL_DATA
  '50', // UNKNOWN_TYPE
  '53', // TYPE_MISMATCH
  '117', // INCORRECT_DATA
])

type FlushedTable = { name: 'steps' | 'logs'; columns: readonly string[] }

/** Inserts one segment of the log into its table, unless it is there. */
export async function insertSegment(segment: Segment, table: FlushedTable, store: Store): Promise<void> {
  // A segment in which nothing is readable is empty.
  if (segment.rows === 0) return
  const isRepeated = segment.mayBeStored
  if (isRepeated && (await isInStore(segment, table.name, store))) return
  segment.mayBeStored = true
  await insert(segment, table, store)
  // Another server, which builds the words of all, may have taken the first part of it for the whole.
  if (isRepeated && table.name === 'steps' && store.engine === undefined)
    await insertWords(store, { condition: `segment = ${segment.id}` })
}

/** Refreshes the sessions that a stored segment touched. */
export async function refreshTouched(
  segment: Segment,
  table: FlushedTable,
  store: Store,
  refresh: (project: string, ids: readonly string[], segment: bigint | undefined) => Promise<void>,
): Promise<void> {
  // Sessions that lost rows with a damaged segment are computed again from what is stored.
  const isWhole = segment.touched !== undefined && !segment.isDamaged
  const stored = isWhole ? [] : await touchedSessions(segment, table.name, store)
  const touched = new Set([...(segment.touched ?? []), ...stored])
  for (const [project, ids] of idsByProject(touched))
    await refresh(project, ids, table.name === 'steps' && isWhole ? segment.id : undefined)
}

/** The sessions of each project, from keys `project` NUL `session`. */
export function idsByProject(keys: Iterable<string>): Map<string, string[]> {
  const ids = new Map<string, string[]>()
  for (const [project, own] of Map.groupBy(keys, (key) => key.slice(0, key.indexOf('\0'))))
    ids.set(
      project,
      own.map((key) => key.slice(project.length + 1)),
    )
  return ids
}

async function insert(segment: Segment, table: FlushedTable, store: Store): Promise<void> {
  const statement = `INSERT INTO ${table.name} (${table.columns.join(', ')}, segment) FORMAT Native`
  const token = `${table.name}-${segment.id}`
  // Each block of a segment begins with a column that is not in the table: it holds the checksum.
  const settings: ClickHouseSettings = {
    input_format_skip_unknown_fields: 1,
    // Replaced rows go with the first merge. Looking for them before that takes a quarter of the time of an insert.
    optimize_on_insert: 0,
    // Its first merge builds it. A ClickHouse server may not know the setting.
    ...(store.engine !== undefined && { exclude_materialize_skip_indexes_on_insert: 'session_index' }),
  }
  try {
    await store.insertFile(statement, segment.path, token, settings).catch((error: unknown) => {
      if (!isMemoryExceeded(error)) throw error
      // A store of an earlier version may still index the words of steps, which can exceed the engine's memory.
      return store.insertFile(statement, segment.path, token, {
        ...settings,
        materialize_skip_indexes_on_insert: 0,
      })
    })
  } catch (error) {
    if (permanentCodes.has(String((error as { code?: unknown }).code))) {
      throw Object.assign(error as Error, { isPermanent: true as const }) satisfies PermanentError
    }
    throw error
  }
}

function isMemoryExceeded(error: unknown): boolean {
  return error instanceof ClickHouseError && error.type === 'MEMORY_LIMIT_EXCEEDED'
}

/** Whether an earlier insert with an unknown outcome succeeded: each row carries the id of its segment. */
async function isInStore(segment: Segment, table: string, store: Store): Promise<boolean> {
  const result = await store.client.query({
    query: `SELECT count() AS stored FROM ${table} WHERE segment = {segment:UInt64}`,
    query_params: { segment: segment.id },
    format: 'JSONEachRow',
  })
  const [row] = await result.json<{ stored: number }>()
  return row !== undefined && row.stored >= segment.rows
}

async function touchedSessions(segment: Segment, table: string, store: Store): Promise<Set<string>> {
  const result = await store.client.query({
    query: `SELECT DISTINCT project, session_id FROM ${table} WHERE segment = {segment:UInt64}`,
    query_params: { segment: segment.id },
    format: 'JSONEachRow',
  })
  const rows = await result.json<{ project: string; session_id: string }>()
  return new Set(rows.map((row) => `${row.project}\0${row.session_id}`))
}
