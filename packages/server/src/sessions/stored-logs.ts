import { logToDraft, type LogDraft, type LogOutline } from '@playhead/model'
import type { Store } from '../store/connect.ts'
import {
  logOutlineFromRow,
  logOutlineSelect,
  logRecordFromRow,
  logRecordSelect,
  type LogOutlineRow,
  type LogRecordRow,
} from '../store/logs-table.ts'

export type ReceivedLog = { sessionId: string; draft: LogDraft; receivedMs: number }

type ReceivedOutline = { outline: LogOutline; receivedMs: number }
type Received = { session_id: string; received_ms: number }

/**
 * Reads the log records of sessions. Most agents send none. As long as there are none at all, this runs no query, which
 * saves a third of the work of opening a session.
 */
export class StoredLogs {
  readonly #store: Store
  #isAny: boolean

  private constructor(store: Store, isAny: boolean) {
    this.#store = store
    this.#isAny = isAny
  }

  /** Only this process writes to the embedded store, but a ClickHouse server may have other writers. */
  static async open(store: Store): Promise<StoredLogs> {
    if (store.engine === undefined) return new StoredLogs(store, true)
    const result = await store.client.query({ query: 'SELECT 1 FROM logs LIMIT 1', format: 'JSONEachRow' })
    return new StoredLogs(store, (await result.json()).length > 0)
  }

  /** Whether there may be any. */
  get isAny(): boolean {
    return this.#isAny
  }

  /** Call it before the first record is stored. */
  expectSome(): void {
    this.#isAny = true
  }

  /** Reads every log record of some sessions, each once. */
  async readRecords(project: string, ids: readonly string[]): Promise<ReceivedLog[]> {
    const rows = await this.#read<LogRecordRow & Received>(logRecordSelect, project, ids)
    return this.#store.badRows.readEach('logs', rows, {
      idOf: (row) => `${row.session_id} ${row.step_id}`,
      read: (row) => ({
        sessionId: row.session_id,
        draft: logToDraft(logRecordFromRow(row)),
        receivedMs: row.received_ms,
      }),
    })
  }

  /** Reads the outlines of those records that add something to their step. */
  async readOutlines(project: string, ids: readonly string[]): Promise<ReceivedOutline[]> {
    const rows = await this.#read<LogOutlineRow & Received>(
      logOutlineSelect,
      project,
      ids,
      "AND outline != ''",
    )
    return this.#store.badRows.readEach('logs', rows, {
      idOf: (row) => `${row.session_id} ${row.step_id}`,
      read: (row) => ({ outline: logOutlineFromRow(row), receivedMs: row.received_ms }),
    })
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
