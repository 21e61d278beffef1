import { joinTraces, type Trace } from '@playhead/model'
import type { Store } from '../store/connect.ts'
import type { VersionClock } from '../store/version-clock.ts'

/** A trace that links to others, and the session that it belongs to. */
type LinkedTrace = { traceId: string; sessionId: string; linkedIds: readonly string[] }

/** What became of some traces: the traces of each of their sessions, and those that changed session just now. */
export type Grouping = { sessions: ReadonlyMap<string, string[]>; movedIds: ReadonlySet<string> }

/** A bound for hostile input: whatever else is linked stays a session of its own. */
const MAX_RELATED = 5_000
/** Traces whose session is known without a query, for live viewers. */
const MAX_RECENT = 20_000

/**
 * Knows which traces belong to the session of another trace. `joinTraces` in the model has the rule; this stores its
 * results in `joined_traces`. As long as no trace links to another one, it runs no query.
 */
export class JoinedTraces {
  readonly #store: Store
  readonly #recent = new Map<string, string>()
  readonly #versions: VersionClock
  #isAny: boolean

  private constructor(store: Store, versions: VersionClock, isAny: boolean) {
    this.#store = store
    this.#versions = versions
    this.#isAny = isAny
  }

  /** Only this process writes to the embedded store, but a ClickHouse server may have other writers. */
  static async open(store: Store, versions: VersionClock): Promise<JoinedTraces> {
    if (store.engine === undefined) return new JoinedTraces(store, versions, true)
    const result = await store.client.query({
      query: 'SELECT 1 FROM joined_traces LIMIT 1',
      format: 'JSONEachRow',
    })
    return new JoinedTraces(store, versions, (await result.json()).length > 0)
  }

  /** False as long as no trace links to another one. */
  get isAny(): boolean {
    return this.#isAny
  }

  /** The session of each trace: mostly the trace itself. */
  async sessionsOf(project: string, traceIds: readonly string[]): Promise<string[]> {
    const rows = await this.#read(project, 'trace_id IN {ids:Array(String)}', traceIds)
    const sessions = new Map(rows.map(({ traceId, sessionId }) => [traceId, sessionId]))
    return traceIds.map((id) => sessions.get(id) ?? id)
  }

  /** Counts the sessions that are named after one of these traces. */
  async countSessions(project: string, traceIds: readonly string[]): Promise<number> {
    const sessions = await this.sessionsOf(project, traceIds)
    return traceIds.filter((id, index) => sessions[index] === id).length
  }

  /** The traces of each session, the one that it is named after first. */
  async tracesOf(project: string, sessionIds: readonly string[]): Promise<Map<string, string[]>> {
    const traces = new Map(sessionIds.map((id) => [id, [id]]))
    for (const { traceId, sessionId } of await this.#read(
      project,
      'session_id IN {ids:Array(String)}',
      sessionIds,
    ))
      if (traceId !== sessionId) traces.get(sessionId)?.push(traceId)
    return traces
  }

  /** As `sessionsOf`, without a query: knows only traces that arrived lately. */
  recentSessionOf(project: string, traceId: string): string {
    return this.#recent.get(`${project}\0${traceId}`) ?? traceId
  }

  /**
   * Decides again which session some traces belong to, after steps of theirs arrived. `readTraces` describes traces by
   * their stored steps. Returns undefined if none of them has anything to do with another trace.
   */
  async regroup(
    project: string,
    traces: readonly Trace[],
    readTraces: (ids: readonly string[]) => Promise<readonly Trace[]>,
  ): Promise<Grouping | undefined> {
    const linking = traces.filter(({ cause }) => cause !== undefined)
    if (!this.#isAny && linking.length === 0) return undefined
    const known = await this.#readRelated(project, [
      ...traces.map(({ id }) => id),
      ...linking.flatMap(linkedIdsOf),
    ])
    if (known.length === 0 && linking.length === 0) return undefined
    const all = new Map(traces.map((trace) => [trace.id, trace]))
    const missing = new Set(
      [...known.flatMap(idsOf), ...linking.flatMap(linkedIdsOf)].filter((id) => !all.has(id)),
    )
    for (const trace of await readTraces([...missing].slice(0, MAX_RELATED))) all.set(trace.id, trace)
    const joined = joinTraces([...all.values()])
    const before = new Map(known.map(({ traceId, sessionId }) => [traceId, sessionId]))
    const changed = [...all.values()].filter(
      ({ id, cause }) => (cause !== undefined || before.has(id)) && before.get(id) !== (joined.get(id) ?? id),
    )
    await this.#save(
      project,
      changed.map((trace) => ({
        traceId: trace.id,
        sessionId: joined.get(trace.id) ?? trace.id,
        linkedIds: linkedIdsOf(trace),
      })),
    )
    for (const [traceId, sessionId] of joined) this.#remember(`${project}\0${traceId}`, sessionId)
    return toGrouping({ all, joined, before, touched: traces, changed })
  }

  /** The linked traces that have to do with these, however many links away. */
  async #readRelated(project: string, ids: readonly string[]): Promise<LinkedTrace[]> {
    const asked = new Set<string>()
    const found = new Map<string, LinkedTrace>()
    for (let next = [...new Set(ids)]; next.length > 0 && asked.size < MAX_RELATED;) {
      for (const id of next) asked.add(id)
      const rows = await this.#read(
        project,
        '(trace_id IN {ids:Array(String)} OR session_id IN {ids:Array(String)} OR hasAny(linked_ids, {ids:Array(String)}))',
        next,
      )
      for (const row of rows) found.set(row.traceId, row)
      next = [...new Set(rows.flatMap(idsOf))].filter((id) => !asked.has(id)).slice(0, MAX_RELATED)
    }
    return [...found.values()]
  }

  /** Reads the current row of each trace that has ever met a condition. */
  async #read(project: string, condition: string, ids: readonly string[]): Promise<LinkedTrace[]> {
    if (!this.#isAny || ids.length === 0) return []
    const result = await this.#store.client.query({
      query: `SELECT trace_id AS traceId, argMax(session_id, version) AS sessionId, argMax(linked_ids, version) AS linkedIds
        FROM joined_traces
        WHERE project = {project:String} AND trace_id IN (
          SELECT trace_id FROM joined_traces WHERE project = {project:String} AND ${condition})
        GROUP BY trace_id`,
      query_params: { project, ids },
      format: 'JSONEachRow',
    })
    return result.json<LinkedTrace>()
  }

  async #save(project: string, traces: readonly LinkedTrace[]): Promise<void> {
    if (traces.length === 0) return
    this.#isAny = true
    if (this.#store.engine === undefined) {
      const condition = 'project = {project:String} AND trace_id IN {ids:Array(String)}'
      const ids = traces.map(({ traceId }) => traceId)
      await this.#versions.observe('joined_traces', condition, { project, ids })
    }
    const version = this.#versions.next()
    await this.#store.client.insert({
      table: 'joined_traces',
      format: 'JSONEachRow',
      values: traces.map(({ traceId, sessionId, linkedIds }) => ({
        project,
        trace_id: traceId,
        session_id: sessionId,
        linked_ids: linkedIds,
        version,
      })),
    })
  }

  #remember(key: string, sessionId: string): void {
    this.#recent.delete(key)
    this.#recent.set(key, sessionId)
    if (this.#recent.size > MAX_RECENT) this.#recent.delete(this.#recent.keys().next().value!)
  }
}

/** The sessions that the touched traces are in now, and those that a changed trace has left or entered. */
function toGrouping(parts: {
  all: ReadonlyMap<string, Trace>
  joined: ReadonlyMap<string, string>
  before: ReadonlyMap<string, string>
  touched: readonly Trace[]
  changed: readonly Trace[]
}): Grouping {
  const { all, joined, before, touched, changed } = parts
  const sessionOf = (id: string) => joined.get(id) ?? id
  const affected = new Set([...touched, ...changed].map(({ id }) => sessionOf(id)))
  for (const { id } of changed) affected.add(sessionOf(before.get(id) ?? id))
  const sessions = new Map<string, string[]>()
  for (const id of all.keys()) {
    const sessionId = sessionOf(id)
    if (!affected.has(sessionId)) continue
    const traceIds = sessions.get(sessionId)
    if (traceIds === undefined) sessions.set(sessionId, [id])
    else traceIds.push(id)
  }
  const moved = changed.filter(({ id }) => sessionOf(id) !== (before.get(id) ?? id))
  return { sessions, movedIds: new Set(moved.map(({ id }) => id)) }
}

function linkedIdsOf({ cause }: Trace): string[] {
  return [...new Set(cause?.steps.map(({ traceId }) => traceId))]
}

function idsOf({ traceId, sessionId, linkedIds }: LinkedTrace): string[] {
  return [traceId, sessionId, ...linkedIds]
}
