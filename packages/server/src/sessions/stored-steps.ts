import { LOST_AFTER_MS, type Span, type StepOutline } from '@playhead/model'
import type { BadRows } from '../store/bad-rows.ts'
import type { Store } from '../store/connect.ts'
import { loadSql } from '../store/load-sql.ts'
import {
  CURRENT_FIRST,
  outlineFromRow,
  outlineSelect,
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

/** Reads the outlines of all steps of some sessions, without their payloads. */
export async function readOutlines(
  { client, badRows }: Pick<Store, 'client' | 'badRows'>,
  project: string,
  ids: readonly string[],
): Promise<StoredOutline[]> {
  const result = await client.query({
    query: outlinesSql({ outline: outlineSelect, current_first: CURRENT_FIRST }),
    query_params: { project, ids },
    format: 'JSONEachRow',
  })
  const rows = await result.json<OutlineRow & { received_ms: number; version: number; arrival: number }>()
  return badRows.readEach('steps', rows, {
    idOf: ({ session_id, step_id }) => `${session_id} ${step_id}`,
    read: (row) => ({
      outline: outlineFromRow(row),
      receivedMs: row.received_ms,
      version: row.version,
      arrival: row.arrival,
    }),
  })
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
  const result = await client.query({
    query: `SELECT toUnixTimestamp64Milli(received_at) AS received_ms, version, arrival, ${spanSelect} FROM steps
      WHERE project = {project:String} AND session_id IN {ids:Array(String)} ${stepIds === undefined ? '' : 'AND step_id IN {stepIds:Array(String)}'}
      ORDER BY session_id, step_id, ${CURRENT_FIRST}
      LIMIT 1 BY session_id, step_id ${isEveryCopy ? ', started_at, arrival' : ''}`,
    query_params: { project, ids, ...(stepIds !== undefined && { stepIds }) },
    format: 'JSONEachRow',
  })
  return toStoredSpans(badRows, await result.json<SpanRow & RowFacts>())
}

export type RowFacts = { received_ms: number; version: number; arrival: number }

/** Parses the spans of rows; leaves out those that can't be parsed. */
export function toStoredSpans(badRows: BadRows, rows: readonly (SpanRow & RowFacts)[]): StoredSpan[] {
  return badRows.readEach('steps', rows, {
    idOf: ({ session_id, step_id }) => `${session_id} ${step_id}`,
    read: (row) => ({
      span: spanFromRow(row),
      resource: row.resource,
      receivedMs: row.received_ms,
      version: row.version,
      arrival: row.arrival,
    }),
  })
}

/**
 * When a session was last heard: the latest of its times that is not in the future. Rows that arrived while the clock was
 * ahead would hide all later ones.
 */
export function lastHeardAt(receivedMs: readonly number[], nowMs: number): number {
  const latest = (times: readonly number[]) => times.reduce((last, ms) => Math.max(last, ms), 0)
  return latest(receivedMs.filter((ms) => ms <= nowMs + LOST_AFTER_MS)) || latest(receivedMs)
}
