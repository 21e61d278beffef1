import { DIAGNOSIS_VERSION, type Findings } from '@playhead/model'
import type { Store } from '../store/connect.ts'
import {
  findingsFromRow,
  toFindingsRow,
  toFindingsTombstone,
  type DiagnosedSession,
  type FindingsRow,
  type ListedSuspect,
} from '../store/findings-table.ts'
import type { VersionClock } from '../store/version-clock.ts'

/** Writes and reads the table `session_findings`. */
export class StoredFindings {
  readonly #store: Store
  readonly #versions: VersionClock

  constructor(store: Store, versions: VersionClock) {
    this.#store = store
    this.#versions = versions
  }

  async save(project: string, sessions: readonly DiagnosedSession[]): Promise<void> {
    const ids = sessions.map(({ summary }) => summary.id)
    await this.#insert(project, ids, (version) =>
      sessions.map((session) => toFindingsRow(project, session, version)),
    )
  }

  /** Removes the findings of traces that joined another session. */
  async remove(project: string, ids: readonly string[]): Promise<void> {
    await this.#insert(project, ids, (version) => ids.map((id) => toFindingsTombstone(project, id, version)))
  }

  async #insert(
    project: string,
    ids: readonly string[],
    rowsOf: (version: number) => Record<string, unknown>[],
  ): Promise<void> {
    if (ids.length === 0) return
    const condition = 'project = {project:String} AND session_id IN {ids:Array(String)}'
    // Another server may have computed them too.
    if (this.#store.engine === undefined)
      await this.#versions.observe('session_findings', condition, { project, ids })
    const values = rowsOf(this.#versions.next())
    await this.#store.client.insert({ table: 'session_findings', format: 'JSONEachRow', values })
  }

  /** The findings of a session, if they were computed from these steps with the current rules. */
  async read(project: string, id: string, stamp: string): Promise<Findings | undefined> {
    const result = await this.#store.client.query({
      query: `SELECT findings FROM session_findings FINAL
        WHERE project = {project:String} AND session_id = {id:String} AND stamp = {stamp:String}
          AND diagnosis_version = ${DIAGNOSIS_VERSION}`,
      query_params: { project, id, stamp },
      format: 'JSONEachRow',
    })
    const rows = await result.json<FindingsRow>()
    return this.#store.badRows.readEach('session_findings', rows, {
      idOf: () => id,
      read: findingsFromRow,
    })[0]
  }

  /** The first suspects of some sessions. */
  async readSuspects(project: string, ids: readonly string[]): Promise<Map<string, ListedSuspect>> {
    if (ids.length === 0) return new Map()
    const result = await this.#store.client.query({
      query: `SELECT session_id AS id, suspect_kinds[1] AS kind, suspect_steps[1] AS stepId, sentence
        FROM session_findings FINAL
        WHERE project = {project:String} AND session_id IN {ids:Array(String)} AND notEmpty(suspect_kinds)`,
      query_params: { project, ids },
      format: 'JSONEachRow',
    })
    const rows = await result.json<ListedSuspect & { id: string }>()
    return new Map(rows.map(({ id, ...suspect }) => [id, suspect]))
  }
}
