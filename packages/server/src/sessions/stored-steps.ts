import type { ClickHouseClient } from '@clickhouse/client'
import { LOST_AFTER_MS, type StepOutline } from '@playhead/model'
import { loadSql } from '../store/load-sql.ts'
import {
  outlineFromRow,
  outlineSelect,
  spanSelect,
  type OutlineRow,
  type SpanRow,
} from '../store/steps-table.ts'

/** The outline of a step, and what the store knows about the row it was read from. */
export type StoredOutline = { outline: StepOutline; receivedMs: number; version: number }

/** A row that holds a span as it arrived. */
export type StoredSpan = SpanRow & { received_ms: number; version: number }

const outlinesSql = loadSql(new URL('./outlines-of-sessions.sql', import.meta.url))

/** Reads the outlines of all steps of some sessions, without their payloads. */
export async function readOutlines(
  client: ClickHouseClient,
  project: string,
  ids: readonly string[],
): Promise<StoredOutline[]> {
  const result = await client.query({
    query: outlinesSql({ outline: outlineSelect }),
    query_params: { project, ids },
    format: 'JSONEachRow',
  })
  const rows = await result.json<OutlineRow & { received_ms: number; version: number }>()
  return rows.map((row) => ({
    outline: outlineFromRow(row),
    receivedMs: row.received_ms,
    version: row.version,
  }))
}

/** Reads the current row of each step of some sessions, payloads included; `stepIds` limits it to those steps. */
export async function readSpans(
  client: ClickHouseClient,
  project: string,
  { ids, stepIds }: { ids: readonly string[]; stepIds?: readonly string[] },
): Promise<StoredSpan[]> {
  const result = await client.query({
    query: `SELECT toUnixTimestamp64Milli(received_at) AS received_ms, version, ${spanSelect} FROM steps
      WHERE project = {project:String} AND session_id IN {ids:Array(String)} ${stepIds === undefined ? '' : 'AND step_id IN {stepIds:Array(String)}'}
      ORDER BY session_id, step_id, version DESC, received_at DESC LIMIT 1 BY session_id, step_id`,
    query_params: { project, ids, ...(stepIds !== undefined && { stepIds }) },
    format: 'JSONEachRow',
  })
  return result.json<StoredSpan>()
}

/**
 * When a session was last heard: the latest of its times that is not in the future. Rows that arrived while the clock was
 * ahead would hide all later ones.
 */
export function lastHeardAt(receivedMs: readonly number[], nowMs: number): number {
  const latest = (times: readonly number[]) => times.reduce((last, ms) => Math.max(last, ms), 0)
  return latest(receivedMs.filter((ms) => ms <= nowMs + LOST_AFTER_MS)) || latest(receivedMs)
}
