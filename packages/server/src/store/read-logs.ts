import type { ClickHouseClient } from '@clickhouse/client'
import { logToDraft, type LogDraft } from '@playhead/model'
import { logRecordFromRow, logRecordSelect, type LogRecordRow } from './logs-table.ts'

export type ReceivedLog = { sessionId: string; draft: LogDraft; receivedMs: number }

/** Every log record of some sessions, whole, each once. */
export async function readLogs(
  client: ClickHouseClient,
  project: string,
  ids: readonly string[],
): Promise<ReceivedLog[]> {
  const result = await client.query({
    query: `SELECT toUnixTimestamp64Milli(received_at) AS received_ms, ${logRecordSelect} FROM logs
      WHERE project = {project:String} AND session_id IN {ids:Array(String)}
      ORDER BY session_id, logged_at, log_id LIMIT 1 BY session_id, log_id`,
    query_params: { project, ids },
    format: 'JSONEachRow',
  })
  const rows = await result.json<LogRecordRow & { received_ms: number }>()
  return rows.map((row) => ({
    sessionId: row.session_id,
    draft: logToDraft(logRecordFromRow(row)),
    receivedMs: row.received_ms,
  }))
}
