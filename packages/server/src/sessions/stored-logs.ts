import { logToDraft, type LogDraft } from '@playhead/model'
import type { Store } from '../store/connect.ts'
import {
  logOutlineSelect,
  logRecordFromRow,
  logRecordSelect,
  type LogOutlineRow,
  type LogRecordRow,
} from '../store/logs-table.ts'

export type ReceivedLog = { sessionId: string; draft: LogDraft; receivedMs: number }

type Received = { session_id: string; received_ms: number }

/**
 * Reads the log records of sessions. Most agents send none: while there is none at all the store is not asked, which is a
 * third of the work of opening a session.
 */
export class StoredLogs {
  readonly #store: Store
  #isAny: boolean

  private constructor(store: Store, isAny: boolean) {
    this.#store = store
    this.#isAny = isAny
  }

  /** A store of one's own has no other writer than this process; a ClickHouse server may have. */
  static async open(store: Store): Promise<StoredLogs> {
    if (store.engine === undefined) return new StoredLogs(store, true)
    const result = await store.client.query({ query: 'SELECT 1 FROM logs LIMIT 1', format: 'JSONEachRow' })
    return new StoredLogs(store, (await result.json()).length > 0)
  }

  /** To be told before the first record is stored. */
  expectSome(): void {
    this.#isAny = true
  }

  /** Every log record of some sessions, whole, each once. */
  async readRecords(project: string, ids: readonly string[]): Promise<ReceivedLog[]> {
    const rows = await this.#read<LogRecordRow & Received>(logRecordSelect, project, ids)
    return rows.map((row) => ({
      sessionId: row.session_id,
      draft: logToDraft(logRecordFromRow(row)),
      receivedMs: row.received_ms,
    }))
  }

  /** Of those that say something of their step, what they say. */
  readOutlines(project: string, ids: readonly string[]): Promise<(LogOutlineRow & Received)[]> {
    return this.#read(logOutlineSelect, project, ids, "AND outline != ''")
  }

  async #read<Row>(columns: string, project: string, ids: readonly string[], condition = ''): Promise<Row[]> {
    if (!this.#isAny) return []
    const result = await this.#store.client.query({
      query: `SELECT toUnixTimestamp64Milli(received_at) AS received_ms, ${columns} FROM logs
        WHERE project = {project:String} AND session_id IN {ids:Array(String)} ${condition}
        ORDER BY session_id, logged_at, log_id LIMIT 1 BY session_id, log_id`,
      query_params: { project, ids },
      format: 'JSONEachRow',
    })
    return result.json<Row>()
  }
}
