import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import {
  collectScores,
  describeTrace,
  resolveSteps,
  type Pricer,
  type ResolvedStep,
  type SummaryContext,
  type TagEdits,
} from '@playhead/model'
import type { Store } from '../store/connect.ts'
import type { EarlyRefresh } from '../log/flush-queue.ts'
import { idsByProject } from '../store/flush-segment.ts'
import type { VersionClock } from '../store/version-clock.ts'
import type { DuplicateCalls, KnownDuplicates } from './duplicate-calls.ts'
import type { FreshSessions } from './fresh-sessions.ts'
import { groupBySize } from './group-by-size.ts'
import type { JoinedTraces } from './joined-traces.ts'
import { toSessionRow, toTombstone, type SessionRow } from '../store/sessions-table.ts'
import type { SessionTags } from './session-tags.ts'
import { SessionWriter } from './session-writer.ts'
import type { StoredLogs } from './stored-logs.ts'
import { asOne, readParts, type SessionParts } from './session-parts.ts'
import type { DeriveCopies } from './step-copies.ts'
import { lastHeardAt } from './stored-steps.ts'

type Refresh = {
  project: string
  ids: readonly string[]
  segment: bigint | undefined
  announce: RefresherOptions['onRefreshed']
}

/** Sessions for which the store is asked together. */
const GROUP_SESSIONS = 100
/** Sessions that are computed before senders get their turn. */
const TURN_SESSIONS = 10
/**
 * Steps in memory that are parsed and computed in one turn. If senders had a turn in between, these steps would survive a collection of
 * young objects: half of what was promoted were such steps.
 */
const TURN_STEPS = 200
/** What senders get after that, while the store keeps up. */
const PAUSE_MS = 2

export type RefresherOptions = {
  store: Store
  versions: VersionClock
  /** Holds the rows of an insert as a temporary file. */
  directory: string
  logs: StoredLogs
  duplicates: DuplicateCalls
  tags: SessionTags
  derive: DeriveCopies
  joined: JoinedTraces
  fresh: FreshSessions
  pricerOf: (project: string) => { pricer: Pricer }
  /** Called when the steps of a session are others than before. */
  onChanged: (project: string, sessionId: string) => void
  /** Called for every refreshed session. */
  onRefreshed: (
    project: string,
    steps: readonly ResolvedStep[],
    context: Omit<SummaryContext, 'nowMs'>,
  ) => void
  /** Called when traces joined or left a session; `isListed` if one of them was a session until now. */
  onMoved: (project: string, traceIds: ReadonlySet<string>, isListed: boolean) => void
}

/**
 * Recomputes the rows of `sessions` when new steps or logs arrive. Always starts from all of their steps, so that a span that
 * was sent twice is never counted twice: from memory if the session is fresh, else from the store.
 */
export class SessionRefresher {
  readonly #options: RefresherOptions
  #last: Promise<unknown> = Promise.resolve()
  #log: { readonly isBusy: boolean } | undefined

  constructor(options: RefresherOptions) {
    this.#options = options
  }

  /** As long as the log is not busy, whoever sends to it gets a pause between groups of sessions. */
  giveWayTo(log: { readonly isBusy: boolean }): void {
    this.#log = log
  }

  /**
   * `segment` is the segment that was just stored: a session with steps from no other segment is new. Refreshes run one
   * after the other, so that two of them never decide differently which traces are one session.
   */
  refresh(project: string, ids: readonly string[], segment?: bigint): Promise<void> {
    const refreshed = this.#last.then(() => this.#refreshAll(project, ids, segment))
    this.#last = refreshed.catch(() => {})
    return refreshed
  }

  /**
   * As `refresh`, while the segment is being inserted: its rows need not be read if all of these sessions, each as `project` NUL
   * `session`, are in memory. Otherwise nothing is done. Lists have them before they are stored; they are announced once the segment
   * is `inserted`, because whoever hears of them may read their steps.
   */
  refreshEarly(keys: ReadonlySet<string>, segment: bigint, early: EarlyRefresh): Promise<boolean> {
    const refreshed = this.#last.then(async () => {
      const [[project, ids] = ['', []], ...others] = [...idsByProject(keys)]
      if (others.length > 0 || !this.#isInMemory(project, ids)) return false
      await this.#refreshAll(project, ids, segment, early)
      return true
    })
    this.#last = refreshed.catch(() => {})
    return refreshed
  }

  /** Whether these sessions can be computed together, and no answer of the store depends on rows that are being inserted. */
  #isInMemory(project: string, ids: readonly string[]): boolean {
    const { fresh, duplicates } = this.#options
    if (duplicates.isAny) return false
    const steps = ids.reduce((sum, id) => sum + fresh.rowsOf(project, id), 0)
    return steps > 0 && steps <= TURN_STEPS && ids.every((id) => fresh.find(project, id) !== undefined)
  }

  /** Whether the store may have more than spans about a session. */
  get #mustAsk(): boolean {
    const { logs, duplicates, tags } = this.#options
    return logs.isAny || duplicates.isAny || tags.isAny
  }

  async #refreshAll(
    project: string,
    ids: readonly string[],
    segment: bigint | undefined,
    early?: EarlyRefresh,
  ): Promise<void> {
    const { store, directory, fresh, onChanged, onRefreshed } = this.#options
    const announcements: (() => void)[] = []
    const announce: RefresherOptions['onRefreshed'] = (...session) => {
      if (early === undefined) onRefreshed(...session)
      else announcements.push(() => onRefreshed(...session))
    }
    const writer = new SessionWriter(store, directory, ({ isDeleted, summary, bucket }) => {
      if (!isDeleted) fresh.written(project, summary.id, bucket)
    })
    const others = new Set<string>()
    for (const [index, group] of this.#groupsOf(project, ids, segment).entries()) {
      if (index > 0) await this.#giveWay()
      for (const id of await this.#refreshGroup(writer, { project, ids: group, segment, announce }))
        others.add(id)
      if (writer.isFull) await writer.flush()
    }
    if (others.size > 0)
      await this.#refreshGroup(writer, { project, ids: [...others], segment: undefined, announce })
    if (early !== undefined && others.size === 0 && writer.list(ids)) {
      for (const id of ids) onChanged(project, id)
      early.listed()
    }
    await writer.flush()
    store.sessions.settled(project, ids)
    await early?.inserted
    for (const tell of announcements) tell()
  }

  /** A request takes several turns of the event loop, so one turn for each group would let it wait for many groups. */
  #giveWay(): Promise<unknown> {
    return this.#log?.isBusy === false ? sleep(PAUSE_MS) : nextTurn()
  }

  /** Small groups of sessions that are computed without asking the store, then larger ones of the others. */
  #groupsOf(project: string, ids: readonly string[], segment: bigint | undefined): (readonly string[])[] {
    const { fresh } = this.#options
    const isAsked = segment === undefined || this.#mustAsk
    const rowsOf = (id: string) => (isAsked ? 0 : fresh.rowsOf(project, id))
    const { quick = [], asking = [] } = Object.groupBy(ids, (id) => (rowsOf(id) > 0 ? 'quick' : 'asking'))
    return [...groupBySize(quick, rowsOf, TURN_STEPS), ...groupBySize(asking, () => 1, GROUP_SESSIONS)]
  }

  /** Returns other sessions that have to be refreshed too, because a call is now counted in another session. */
  async #refreshGroup(
    writer: SessionWriter,
    { project, ids, segment, announce }: Refresh,
  ): Promise<string[]> {
    const { fresh } = this.#options
    if (segment === undefined) fresh.forget(project, ids)
    const version = await this.#nextVersion(project, ids, segment)
    const { sessions, movedIds } = await this.#joinTraces(
      project,
      await readParts(this.#options, { project, ids, segment }),
    )
    const { duplicates, changedElsewhere } = await this.#options.duplicates.find(project, sessions)
    const edits = await this.#options.tags.readEdits(
      project,
      new Map([...sessions].map(([id, { traceIds }]) => [id, traceIds])),
    )
    const unknown = [...sessions.values()].flatMap((parts) =>
      parts.buckets === undefined ? parts.traceIds : [],
    )
    // Rows of the groups before may be among them.
    if (unknown.length > 0 || movedIds.size > 0) await writer.flush()
    const buckets = await this.#readBuckets(project, unknown)
    for (const [id, parts] of sessions) if (parts.buckets !== undefined) buckets.set(id, parts.buckets)
    let computed = 0
    for (const [id, parts] of sessions) {
      if (parts.outlines.length === 0) continue
      if (computed > 0 && computed % TURN_SESSIONS === 0) await nextTurn()
      computed += 1
      const row = this.#summarize(project, id, {
        parts,
        version,
        duplicates: duplicates.get(id),
        tagEdits: edits.get(id),
        announce,
      })
      if (row === undefined) continue
      writer.add(row)
      for (const traceId of parts.traceIds)
        for (const bucket of buckets.get(traceId) ?? [])
          if (traceId !== id || bucket !== row.bucket) writer.add(toTombstone(row, traceId, bucket))
    }
    if (movedIds.size > 0) {
      await writer.flush()
      const isListed = [...movedIds].some((id) => buckets.has(id))
      this.#options.onMoved(project, movedIds, isListed)
    }
    for (const { traceIds } of sessions.values()) if (traceIds.length > 1) fresh.forget(project, traceIds)
    return changedElsewhere.filter((id) => !sessions.has(id))
  }

  /** Puts together the parts of sessions that consist of several traces. */
  async #joinTraces(
    project: string,
    parts: Map<string, SessionParts>,
  ): Promise<{ sessions: Map<string, SessionParts>; movedIds: ReadonlySet<string> }> {
    const describe = ([id, { outlines }]: [string, SessionParts]) => describeTrace(id, outlines)
    const grouping = await this.#options.joined.regroup(project, [...parts].map(describe), async (ids) => {
      const others = await readParts(this.#options, { project, ids, segment: undefined })
      for (const [id, other] of others) parts.set(id, other)
      return [...others].map(describe)
    })
    if (grouping === undefined) return { sessions: parts, movedIds: new Set() }
    const sessions = new Map<string, SessionParts>()
    for (const [id, traceIds] of grouping.sessions)
      sessions.set(id, traceIds.length === 1 ? parts.get(id)! : asOne(id, traceIds, parts))
    return { sessions, movedIds: grouping.movedIds }
  }

  /** One session that can't be summarized must not keep the others from being stored. */
  #summarize(
    project: string,
    id: string,
    given: {
      parts: SessionParts
      version: number
      duplicates: KnownDuplicates | undefined
      tagEdits: TagEdits | undefined
      announce: RefresherOptions['onRefreshed']
    },
  ): SessionRow | undefined {
    const { parts, version, duplicates, tagEdits, announce } = given
    const lastHeardAtMs = lastHeardAt(parts.receivedMs, Date.now())
    try {
      const { pricer } = this.#options.pricerOf(project)
      const steps = resolveSteps(parts.outlines, parts.logs, { ...duplicates, pricer })
      const scores = collectScores([...parts.outlines, ...parts.scores], parts.logs)
      const row = toSessionRow(project, steps, {
        version,
        lastHeardAtMs,
        tagEdits,
        scores,
        stored: parts.isBuilt ? [] : parts.outlines,
      })
      announce(project, steps, { lastHeardAtMs, tagEdits, scores })
      return row
    } catch (error) {
      this.#options.store.badRows.note('steps', id, `The session is not listed: ${(error as Error).message}`)
      return undefined
    }
  }

  async #readBuckets(project: string, ids: readonly string[]): Promise<Map<string, readonly number[]>> {
    const buckets = new Map<string, readonly number[]>()
    if (ids.length === 0) return buckets
    const result = await this.#options.store.client.query({
      query: `SELECT session_id, groupArray(bucket) AS buckets FROM (
          SELECT session_id, bucket FROM sessions WHERE project = {project:String} AND session_id IN {ids:Array(String)}
          GROUP BY session_id, bucket HAVING argMax(is_deleted, version) = 0
        ) GROUP BY session_id`,
      query_params: { project, ids },
      format: 'JSONEachRow',
    })
    for (const row of await result.json<{ session_id: string; buckets: number[] }>())
      buckets.set(row.session_id, row.buckets)
    return buckets
  }

  /**
   * Later refreshes win. Only this process writes sessions to the embedded engine, so it knows all versions there, except
   * those of a restored backup, which has no segment.
   */
  async #nextVersion(project: string, ids: readonly string[], segment: bigint | undefined): Promise<number> {
    const { store, versions } = this.#options
    if (store.engine === undefined || segment === undefined) {
      const condition = 'project = {project:String} AND session_id IN {ids:Array(String)}'
      await versions.observe('sessions', condition, { project, ids })
    }
    return versions.next()
  }
}
