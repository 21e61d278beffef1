import { setTimeout as sleep } from 'node:timers/promises'
import type { LiveFeed } from '../live/live-feed.ts'
import type { SessionReader } from '../sessions/session-reader.ts'
import { readOutlines } from '../sessions/stored-steps.ts'
import type { Store } from '../store/connect.ts'
import { hourBucket } from '../store/sessions-table.ts'
import type { ServerNodes } from './server-nodes.ts'

const POLL_MS = 500
/** Clocks of servers may differ by this much: versions of rows are times. */
const CLOCK_SKEW_MS = 10_000
/** Viewers of a list see changes of sessions that started this recently. */
const LISTED_MS = 86_400_000
/** If more sessions change at once, viewers of the list read it again. */
const MAX_SUMMARIES = 20

type FollowOptions = {
  store: Store
  nodes: ServerNodes
  live: LiveFeed
  reader: SessionReader
  report: (line: string) => void
}

/** What is known of a session: the version of its row, and when its latest step was received. */
type Seen = { version: number; receivedMs: number }

/**
 * Shows viewers what other servers receive: while somebody watches and there are other servers, it looks for rows that
 * changed in the store. What this server received itself may be published twice, which viewers do not notice.
 */
export function followOtherNodes(options: FollowOptions, cleanups: (() => unknown)[]): void {
  if (!options.nodes.isShared) return
  const stopped = new AbortController()
  const follower = new Follower(options)
  let lastProblem = ''
  const reportOnce = ({ message }: Error) => {
    if (message !== lastProblem) options.report(`What other servers receive is not shown live: ${message}`)
    lastProblem = message
  }
  const work = async () => {
    while (!stopped.signal.aborted) {
      await follower.poll().then(() => (lastProblem = ''), reportOnce)
      await sleep(POLL_MS, undefined, { signal: stopped.signal, ref: false }).catch(() => undefined)
    }
  }
  const working = work()
  cleanups.push(async () => {
    stopped.abort()
    await working
  })
}

class Follower {
  readonly #options: FollowOptions
  readonly #seen = new Map<string, Seen>()

  constructor(options: FollowOptions) {
    this.#options = options
  }

  async poll(): Promise<void> {
    const { nodes, live } = this.#options
    if (!nodes.hasOthers()) return this.#seen.clear()
    const watched = live.watched()
    if (watched.size === 0) return this.#seen.clear()
    const sinceMs = Date.now() - CLOCK_SKEW_MS
    for (const [key, { version }] of this.#seen)
      if (version < (sinceMs - CLOCK_SKEW_MS) * 1_000) this.#seen.delete(key)
    for (const [project, sessionIds] of watched) await this.#pollProject(project, sessionIds, sinceMs)
  }

  /** `sessionIds` is undefined if somebody watches the whole project. */
  async #pollProject(
    project: string,
    sessionIds: ReadonlySet<string> | undefined,
    sinceMs: number,
  ): Promise<void> {
    const { live, reader } = this.#options
    const changed = await this.#readChanged(project, sessionIds, sinceMs)
    for (const { id } of changed) reader.invalidate(project, id)
    if (sessionIds === undefined && changed.length > MAX_SUMMARIES) live.publishReset(project)
    else for (const { id } of changed) live.publishSession(project, await reader.readSummary(project, id))
    if (changed.length > 0) await this.#publishSteps(project, changed, sinceMs)
    for (const { id, version } of changed) this.#note(project, id, { version })
  }

  /** Sessions whose row is newer than the one that was seen last. */
  async #readChanged(
    project: string,
    sessionIds: ReadonlySet<string> | undefined,
    sinceMs: number,
  ): Promise<{ id: string; version: number }[]> {
    const which = sessionIds === undefined ? 'bucket <= {bucket:UInt32}' : 'session_id IN {ids:Array(String)}'
    const result = await this.#options.store.client.query({
      query: `SELECT session_id AS id, max(version) AS newest FROM sessions
        WHERE project = {project:String} AND ${which} AND version > {since:UInt64} AND NOT is_deleted GROUP BY session_id`,
      query_params: {
        project,
        ids: [...(sessionIds ?? [])],
        bucket: hourBucket(Date.now() - LISTED_MS),
        since: sinceMs * 1_000,
      },
      format: 'JSONEachRow',
    })
    const rows = await result.json<{ id: string; newest: number }>()
    return rows
      .map(({ id, newest }) => ({ id, version: newest }))
      .filter(({ id, version }) => version > (this.#seen.get(keyOf(project, id))?.version ?? 0))
  }

  /** Publishes the steps that arrived since the session was seen last. */
  async #publishSteps(project: string, changed: readonly { id: string }[], sinceMs: number): Promise<void> {
    const { store, live } = this.#options
    const watched = changed.filter(({ id }) => live.isWatched(project, id)).slice(0, MAX_SUMMARIES)
    if (watched.length === 0) return
    const rows = await readOutlines(
      store,
      project,
      watched.map(({ id }) => id),
    )
    for (const [id, steps] of Map.groupBy(rows, ({ outline }) => outline.sessionId)) {
      const knownMs = this.#seen.get(keyOf(project, id))?.receivedMs ?? sinceMs
      const fresh = steps.filter(({ receivedMs }) => receivedMs >= knownMs)
      live.publishSteps(
        project,
        fresh.map(({ outline }) => outline),
      )
      const receivedMs = Math.max(knownMs, ...fresh.map((step) => step.receivedMs))
      this.#note(project, id, { receivedMs })
    }
  }

  #note(project: string, id: string, seen: Partial<Seen>): void {
    const key = keyOf(project, id)
    this.#seen.set(key, { version: 0, receivedMs: 0, ...this.#seen.get(key), ...seen })
  }
}

function keyOf(project: string, id: string): string {
  return `${project}\0${id}`
}
