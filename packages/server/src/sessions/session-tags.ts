import type { TagEdits } from '@playhead/model'
import type { Store } from '../store/connect.ts'
import type { VersionClock } from '../store/version-clock.ts'

/**
 * The tags that people added to sessions or removed from them, which count before those that the spans contain. As long as
 * nobody has edited any, this runs no query.
 */
export class SessionTags {
  readonly #store: Store
  readonly #versions: VersionClock
  #isAny: boolean

  private constructor(store: Store, versions: VersionClock, isAny: boolean) {
    this.#store = store
    this.#versions = versions
    this.#isAny = isAny
  }

  /** Only this process writes to the embedded store, but a ClickHouse server may have other writers. */
  static async open(store: Store, versions: VersionClock): Promise<SessionTags> {
    if (store.engine === undefined) return new SessionTags(store, versions, true)
    const result = await store.client.query({
      query: 'SELECT 1 FROM session_tags LIMIT 1',
      format: 'JSONEachRow',
    })
    return new SessionTags(store, versions, (await result.json()).length > 0)
  }

  /** Whether there may be any edits. */
  get isAny(): boolean {
    return this.#isAny
  }

  /** Call it before a backup is restored. */
  expectSome(): void {
    this.#isAny = true
  }

  /** Stores edits of a session's tags. The session has to be refreshed afterwards. */
  async save(project: string, sessionId: string, edits: TagEdits): Promise<void> {
    if (edits.size === 0) return
    this.#isAny = true
    await this.#versions.observe('session_tags', 'project = {project:String}', { project })
    const version = this.#versions.next()
    await this.#store.client.insert({
      table: 'session_tags',
      format: 'JSONEachRow',
      values: [...edits].map(([tag, isAdded]) => ({
        project,
        session_id: sessionId,
        tag,
        is_added: isAdded ? 1 : 0,
        version,
      })),
    })
  }

  /** Reads the edits of sessions, given with their traces: a trace may have been edited before it joined its session. */
  async readEdits(
    project: string,
    sessions: ReadonlyMap<string, readonly string[]>,
  ): Promise<Map<string, TagEdits>> {
    const edits = new Map<string, Map<string, boolean>>()
    if (!this.#isAny || sessions.size === 0) return edits
    const sessionOf = new Map([...sessions].flatMap(([id, traceIds]) => traceIds.map((trace) => [trace, id])))
    const result = await this.#store.client.query({
      query: `SELECT session_id, tag, is_added FROM session_tags FINAL
        WHERE project = {project:String} AND session_id IN {ids:Array(String)} ORDER BY version, tag`,
      query_params: { project, ids: [...sessionOf.keys()] },
      format: 'JSONEachRow',
    })
    for (const row of await result.json<{ session_id: string; tag: string; is_added: number }>()) {
      const id = sessionOf.get(row.session_id)!
      const known = edits.get(id) ?? new Map<string, boolean>()
      edits.set(id, known.set(row.tag, row.is_added === 1))
    }
    return edits
  }
}
