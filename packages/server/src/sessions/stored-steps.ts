import { LOST_AFTER_MS, type Span, type StepOutline } from '@playhead/model'
import type { BadRows } from '../store/bad-rows.ts'
import type { Store } from '../store/connect.ts'
import { loadSql } from '../store/load-sql.ts'
import {
  CURRENT_FIRST,
  IS_FINISHED,
  isPackedRow,
  outlineFromRow,
  outlineSelect,
  packedOutlineSelect,
  packedSpanSelect,
  spanFromRow,
  spanSelect,
  type OutlineRow,
  type SpanRow,
} from '../store/steps-table.ts'

/** The outline of a step, and what the store knows about the row it was read from. */
export type StoredOutline = { outline: StepOutline } & StoredFacts

/** A span as it arrived. `resource` is the stored text. */
export type StoredSpan = { span: Span; resource: string } & StoredFacts

type StoredFacts = { receivedMs: number; version: number; arrival: number }

const outlinesSql = loadSql(new URL('./outlines-of-sessions.sql', import.meta.url))

type StoredOutlineRow = OutlineRow & RowFacts & { is_finished: number }

/** Reads the outlines of all steps of some sessions, without their payloads. */
export async function readOutlines(
  store: Pick<Store, 'client' | 'badRows'>,
  project: string,
  ids: readonly string[],
): Promise<StoredOutline[]> {
  return (await readOutlinesAndCopies(store, project, ids)).outlines
}

/** As `readOutlines`, and which steps have several finished copies. */
export async function readOutlinesAndCopies(
  { client, badRows }: Pick<Store, 'client' | 'badRows'>,
  project: string,
  ids: readonly string[],
): Promise<OutlinesAndCopies> {
  const rows = await readPacked<StoredOutlineRow>(ids, async (some, isAllPacked) => {
    const result = await client.query({
      query: outlinesSql({
        outline: isAllPacked ? packedOutlineSelect : outlineSelect,
        is_finished: IS_FINISHED,
        current_first: CURRENT_FIRST,
      }),
      query_params: { project, ids: some },
      format: 'JSONEachRow',
    })
    return result.json<StoredOutlineRow>()
  })
  return toOutlinesAndCopies(badRows, rows)
}

export type OutlinesAndCopies = { outlines: StoredOutline[]; copied: StepKey[] }

export function toOutlinesAndCopies(badRows: BadRows, rows: readonly StoredOutlineRow[]): OutlinesAndCopies {
  const { current, copied } = firstOfEach(rows)
  return {
    outlines: badRows.readEach('steps', current, { idOf, read: toStoredOutline }),
    copied,
  }
}

export function toStoredOutline(row: OutlineRow & RowFacts): StoredOutline {
  return {
    outline: outlineFromRow(row),
    receivedMs: row.received_ms,
    version: row.version,
    arrival: row.arrival,
  }
}

/** The row that counts of each step, which comes first, and the steps with other finished copies. */
function firstOfEach(rows: readonly StoredOutlineRow[]): { current: StoredOutlineRow[]; copied: StepKey[] } {
  const current: StoredOutlineRow[] = []
  const copied = new Set<StoredOutlineRow>()
  for (const row of rows) {
    const first = current.at(-1)
    if (first?.session_id !== row.session_id || first.step_id !== row.step_id) current.push(row)
    else if (row.is_finished === 1) copied.add(first)
  }
  return { current, copied: [...copied].map(({ session_id, step_id }) => ({ session_id, step_id })) }
}

/** Reads rows with the few columns that packed rows need, and those of sessions with rows of earlier versions again. */
async function readPacked<Row extends { session_id: string; outline: string }>(
  ids: readonly string[],
  read: (ids: readonly string[], isAllPacked: boolean) => Promise<Row[]>,
): Promise<Row[]> {
  const rows = await read(ids, true)
  const earlier = new Set(rows.filter((row) => !isPackedRow(row)).map((row) => row.session_id))
  if (earlier.size === 0) return rows
  return [...rows.filter((row) => !earlier.has(row.session_id)), ...(await read([...earlier], false))]
}

function idOf({ session_id, step_id }: StepKey): string {
  return `${session_id} ${step_id}`
}

/** How many rows each session has: a session may have one, or hundred thousand. */
export async function countRows(
  { client }: Pick<Store, 'client'>,
  project: string,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const result = await client.query({
    query: `SELECT session_id AS id, toUInt32(count()) AS total FROM steps
      WHERE project = {project:String} AND session_id IN {ids:Array(String)} GROUP BY session_id`,
    query_params: { project, ids },
    format: 'JSONEachRow',
  })
  const rows = await result.json<{ id: string; total: number }>()
  return new Map(rows.map(({ id, total }) => [id, total]))
}

type SpanQuery = {
  ids: readonly string[]
  /** Limits it to these steps. */
  stepIds?: readonly string[]
  /** Every copy of a step, not only the one that counts. */
  isEveryCopy?: boolean
}

/** Reads the row that counts of each step of some sessions, payloads included. */
export async function readSpans(
  { client, badRows }: Pick<Store, 'client' | 'badRows'>,
  project: string,
  { ids, stepIds, isEveryCopy = false }: SpanQuery,
): Promise<StoredSpan[]> {
  return readSpanRows(
    { client, badRows },
    {
      project,
      ids,
      condition: stepIds === undefined ? '' : 'AND step_id IN {stepIds:Array(String)}',
      order: `session_id, step_id, ${CURRENT_FIRST}
        LIMIT 1 BY session_id, step_id ${isEveryCopy ? ', started_at, arrival' : ''}`,
      params: stepIds === undefined ? {} : { stepIds },
    },
  )
}

/** Reads some rows of some sessions, payloads included; leaves out those that can't be parsed. */
export async function readSpanRows(
  { client, badRows }: Pick<Store, 'client' | 'badRows'>,
  query: {
    project: string
    ids: readonly string[]
    condition: string
    /** What follows ORDER BY. */
    order: string
    params: Record<string, unknown>
  },
): Promise<StoredSpan[]> {
  const rows = await readPacked<SpanRow & RowFacts>(query.ids, async (ids, isAllPacked) => {
    const result = await client.query({
      query: `SELECT toUnixTimestamp64Milli(received_at) AS received_ms, version, arrival, ${isAllPacked ? packedSpanSelect : spanSelect}
        FROM steps WHERE project = {project:String} AND session_id IN {ids:Array(String)} ${query.condition}
        ORDER BY ${query.order}`,
      query_params: { project: query.project, ids, ...query.params },
      format: 'JSONEachRow',
    })
    return result.json<SpanRow & RowFacts>()
  })
  return toStoredSpans(badRows, rows)
}

export type StepKey = { session_id: string; step_id: string }

export type RowFacts = { received_ms: number; version: number; arrival: number }

/** Parses the spans of rows; leaves out those that can't be parsed. */
export function toStoredSpans<Row extends SpanRow & RowFacts>(
  badRows: BadRows,
  rows: readonly Row[],
  read: (row: Row) => StoredSpan = toStoredSpan,
): StoredSpan[] {
  return badRows.readEach('steps', rows, { idOf, read })
}

export function toStoredSpan(row: SpanRow & RowFacts): StoredSpan {
  return {
    span: spanFromRow(row),
    resource: row.resource,
    receivedMs: row.received_ms,
    version: row.version,
    arrival: row.arrival,
  }
}

/**
 * When a session was last heard: the latest of its times that is not in the future. Rows that arrived while the clock was
 * ahead would hide all later ones.
 */
export function lastHeardAt(receivedMs: readonly number[], nowMs: number): number {
  const latest = (times: readonly number[]) => times.reduce((last, ms) => Math.max(last, ms), 0)
  return latest(receivedMs.filter((ms) => ms <= nowMs + LOST_AFTER_MS)) || latest(receivedMs)
}
