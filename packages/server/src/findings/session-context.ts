import type { DiagnosisContext, Peers, Session, SessionSummary, Usual } from '@playhead/model'
import type { SessionReader, StampedSession } from '../sessions/session-reader.ts'
import type { Store } from '../store/connect.ts'
import { comparisonKey, findPassing } from './passing-sessions.ts'

const MOST_PEERS = 400
const CACHE_MS = 300_000
const MAX_CACHED = 200
const MOST_SIBLING_STEPS = 2_000
/** A sibling with larger payloads is read each time. */
const MOST_CACHED_BYTES = 256 * 1024

type PeerRow = {
  nodes: string[]
  end_state: string
  duration_ms: number | null
  cost: number | null
  step_count: number
}

const hasPassed = ({ end_state }: PeerRow) => end_state === 'success'

const hasFailed = ({ endState }: SessionSummary) => endState === 'fail' || endState === 'lost'

type Known = { usual: Usual; peers: Peers; atMs: number }

/** What is known about a session besides its own steps: a sibling that passed, and what others of its name do. */
export class SessionContext {
  readonly #store: Store
  readonly #reader: SessionReader
  readonly #known = new Map<string, Promise<Known>>()
  readonly #siblings = new Map<string, { session: Session; atMs: number }>()

  constructor(store: Store, reader: SessionReader) {
    this.#store = store
    this.#reader = reader
  }

  /** Reads what is known about some sessions together, and returns it for each of them. */
  async read(
    project: string,
    summaries: readonly SessionSummary[],
  ): Promise<(summary: SessionSummary) => DiagnosisContext> {
    const names = [...new Set(summaries.map(({ name }) => name))]
    const known = new Map<string, Known>()
    for (const name of names) known.set(name, await this.#readKnown(project, name))
    const siblings = await this.#readSiblings(project, summaries.filter(hasFailed))
    return (summary) => {
      const { usual, peers } = known.get(summary.name)!
      if (!hasFailed(summary)) return { usual }
      const key = comparisonKey(summary)
      return { usual, peers, sibling: key === undefined ? undefined : siblings.get(key) }
    }
  }

  /** Sessions come in bursts of the same name, so what others of it do is read once in five minutes. */
  async #readKnown(project: string, name: string): Promise<Known> {
    const key = `${project}\0${name}`
    const cached = await this.#known.get(key)
    if (cached !== undefined && performance.now() - cached.atMs < CACHE_MS) return cached
    const reading = this.#readName(project, name)
    remember(this.#known, key, reading)
    reading.catch(() => this.#known.delete(key))
    return reading
  }

  async #readName(project: string, name: string): Promise<Known> {
    const result = await this.#store.client.query({
      query: `SELECT nodes, end_state, duration_ms, cost, step_count FROM session_findings FINAL
        WHERE project = {project:String} AND name = {name:String}
        ORDER BY started_at DESC LIMIT ${MOST_PEERS}`,
      query_params: { project, name },
      format: 'JSONEachRow',
    })
    const rows = await result.json<PeerRow>()
    const [passed, failed] = [rows.filter(hasPassed), rows.filter((row) => !hasPassed(row))]
    const nodesOf = (some: readonly PeerRow[]) =>
      some.map(({ nodes }) => nodes).filter(({ length }) => length > 0)
    const known = (values: readonly (number | null)[]) => values.filter((value) => value !== null)
    return {
      peers: { passed: nodesOf(passed), failed: nodesOf(failed) },
      usual: {
        durationMs: known(passed.map((row) => row.duration_ms)),
        cost: known(passed.map((row) => row.cost)),
        stepCount: passed.map((row) => row.step_count),
      },
      atMs: performance.now(),
    }
  }

  /** A session that passed for each failed one, where there is one: of the same test, otherwise with the same name and input. */
  async #readSiblings(
    project: string,
    failed: readonly SessionSummary[],
  ): Promise<ReadonlyMap<string, Session>> {
    const keys = [...new Set(failed.flatMap((summary) => comparisonKey(summary) ?? []))]
    const siblings = new Map<string, Session>()
    const unknown: string[] = []
    for (const key of keys) {
      const cached = this.#siblings.get(`${project}\0${key}`)
      if (cached !== undefined && performance.now() - cached.atMs < CACHE_MS)
        siblings.set(key, cached.session)
      else unknown.push(key)
    }
    const ids = await findPassing(this.#store, project, unknown)
    const read = await this.#readSessions(project, [...new Set(ids.values())])
    for (const [key, id] of ids) {
      const sibling = read.get(id)
      if (sibling === undefined) continue
      siblings.set(key, sibling.session)
      if (sibling.bytes <= MOST_CACHED_BYTES)
        remember(this.#siblings, `${project}\0${key}`, { session: sibling.session, atMs: performance.now() })
    }
    return siblings
  }

  async #readSessions(project: string, ids: readonly string[]): Promise<Map<string, StampedSession>> {
    const sessions = new Map<string, StampedSession>()
    if (ids.length === 0) return sessions
    for await (const group of this.#reader.readStamped(project, ids))
      for (const stamped of group)
        if (stamped.session.steps.length <= MOST_SIBLING_STEPS)
          sessions.set(stamped.session.session.id, stamped)
    return sessions
  }
}

/** Drops the oldest entry of a full cache. */
function remember<Value>(cache: Map<string, Value>, key: string, value: Value): void {
  cache.delete(key)
  cache.set(key, value)
  if (cache.size > MAX_CACHED) cache.delete(cache.keys().next().value!)
}
