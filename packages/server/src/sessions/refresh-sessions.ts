import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import {
  asOneSession,
  collectScores,
  describeTrace,
  isScoreOnly,
  logsToSteps,
  priceStep,
  resolveSteps,
  type LogOutline,
  type Pricer,
  type ResolvedStep,
  type StepOutline,
  type SummaryContext,
  type TagEdits,
} from '@playhead/model'
import { NativeBlock } from '../log/native-block.ts'
import type { Store } from '../store/connect.ts'
import type { VersionClock } from '../store/version-clock.ts'
import type { DuplicateCalls, KnownDuplicates } from './duplicate-calls.ts'
import type { FreshSession, FreshSessions } from './fresh-sessions.ts'
import type { JoinedTraces } from './joined-traces.ts'
import { sessionColumns, toSessionRow, toTombstone, type SessionRow } from '../store/sessions-table.ts'
import type { SessionTags } from './session-tags.ts'
import type { StoredLogs } from './stored-logs.ts'
import { readJoinedOutlines, type DeriveCopies } from './step-copies.ts'
import { lastHeardAt, toStoredOutline } from './stored-steps.ts'

/** Everything a refresh needs to know about one session. */
type SessionParts = {
  outlines: StepOutline[]
  logs: LogOutline[]
  /** Spans that only bring a score: no steps, and no sign of life. */
  scores: StepOutline[]
  receivedMs: number[]
  /** The buckets that its row may be in; undefined if they have to be looked up. */
  buckets: readonly number[] | undefined
  /** True when the outlines come from logs. */
  isBuilt: boolean
  /** The traces that it consists of. */
  traceIds: readonly string[]
}

const BATCH_SESSIONS = 1_000

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

  constructor(options: RefresherOptions) {
    this.#options = options
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

  async #refreshAll(project: string, ids: readonly string[], segment: bigint | undefined): Promise<void> {
    for (let start = 0; start < ids.length; start += BATCH_SESSIONS) {
      const others = await this.#refreshSome(project, ids.slice(start, start + BATCH_SESSIONS), segment)
      if (others.length > 0) await this.#refreshSome(project, others, undefined)
    }
  }

  /** Returns other sessions that have to be refreshed too, because a call is now counted in another session. */
  async #refreshSome(
    project: string,
    ids: readonly string[],
    segment: bigint | undefined,
  ): Promise<string[]> {
    const { fresh } = this.#options
    if (segment === undefined) fresh.forget(project, ids)
    const version = await this.#nextVersion(project, ids, segment)
    const { sessions, movedIds } = await this.#joinTraces(
      project,
      await this.#readParts(project, ids, segment),
    )
    const { duplicates, changedElsewhere } = await this.#options.duplicates.find(project, sessions)
    const edits = await this.#options.tags.readEdits(
      project,
      new Map([...sessions].map(([id, { traceIds }]) => [id, traceIds])),
    )
    const buckets = await this.#readBuckets(
      project,
      [...sessions.values()].flatMap((parts) => (parts.buckets === undefined ? parts.traceIds : [])),
    )
    for (const [id, parts] of sessions) if (parts.buckets !== undefined) buckets.set(id, [...parts.buckets])
    const rows: SessionRow[] = []
    for (const [id, parts] of sessions) {
      if (parts.outlines.length === 0) continue
      const row = this.#summarize(project, id, {
        parts,
        version,
        duplicates: duplicates.get(id),
        tagEdits: edits.get(id),
      })
      if (row === undefined) continue
      rows.push(row)
      for (const traceId of parts.traceIds)
        for (const bucket of buckets.get(traceId) ?? [])
          if (traceId !== id || bucket !== row.bucket) rows.push(toTombstone(row, traceId, bucket))
    }
    await this.#insert(rows)
    for (const { summary, bucket, isDeleted } of rows)
      if (!isDeleted) fresh.written(project, summary.id, bucket)
    for (const { traceIds } of sessions.values()) if (traceIds.length > 1) fresh.forget(project, traceIds)
    if (movedIds.size > 0)
      this.#options.onMoved(
        project,
        movedIds,
        [...movedIds].some((id) => buckets.has(id)),
      )
    return changedElsewhere.filter((id) => !sessions.has(id))
  }

  /** Puts together the parts of sessions that consist of several traces. */
  async #joinTraces(
    project: string,
    parts: Map<string, SessionParts>,
  ): Promise<{ sessions: Map<string, SessionParts>; movedIds: ReadonlySet<string> }> {
    const describe = ([id, { outlines }]: [string, SessionParts]) => describeTrace(id, outlines)
    const grouping = await this.#options.joined.regroup(project, [...parts].map(describe), async (ids) => {
      const others = await this.#readParts(project, ids, undefined)
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
    },
  ): SessionRow | undefined {
    const { parts, version, duplicates, tagEdits } = given
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
      this.#options.onRefreshed(project, steps, { lastHeardAtMs, tagEdits, scores })
      return row
    } catch (error) {
      this.#options.store.badRows.note('steps', id, `The session is not listed: ${(error as Error).message}`)
      return undefined
    }
  }

  async #readParts(
    project: string,
    ids: readonly string[],
    segment: bigint | undefined,
  ): Promise<Map<string, SessionParts>> {
    const fresh = segment === undefined ? new Map<string, FreshSession>() : this.#findFresh(project, ids)
    const others = fresh.size === 0 ? ids : ids.filter((id) => !fresh.has(id))
    const [steps, logs, newIds] = await Promise.all([
      others.length === 0 ? [] : readJoinedOutlines(this.#options, project, others),
      this.#options.logs.readOutlines(project, ids),
      this.#findNew(project, others, segment),
    ])
    const sessions = new Map<string, SessionParts>()
    const partsOf = (id: string) => {
      let parts = sessions.get(id)
      if (parts === undefined) {
        parts = {
          outlines: [],
          logs: [],
          scores: [],
          receivedMs: [],
          buckets: newIds.has(id) ? [] : fresh.get(id)?.buckets,
          isBuilt: false,
          traceIds: [id],
        }
        sessions.set(id, parts)
      }
      return parts
    }
    const inMemory = [...fresh.values()].flatMap(({ rows }) => rows)
    const remembered = this.#options.store.badRows.readEach('steps', inMemory, {
      idOf: ({ session_id, step_id }) => `${session_id} ${step_id}`,
      read: toStoredOutline,
    })
    for (const { outline, receivedMs } of [...remembered, ...steps]) {
      const parts = partsOf(outline.sessionId)
      if (isScoreOnly(outline)) {
        parts.scores.push(outline)
        continue
      }
      parts.outlines.push(outline)
      parts.receivedMs.push(receivedMs)
    }
    for (const { outline, receivedMs } of logs) {
      const parts = partsOf(outline.sessionId)
      parts.logs.push(outline)
      if (outline.adds?.scores === undefined) parts.receivedMs.push(receivedMs)
      // Its row may have been written when only logs of it had arrived.
      if (!fresh.has(outline.sessionId)) parts.buckets = undefined
    }
    await this.#buildFromLogs(project, sessions)
    return sessions
  }

  /** Some instrumentations send only log records. Their steps are built from those. */
  async #buildFromLogs(project: string, sessions: ReadonlyMap<string, SessionParts>): Promise<void> {
    const ids = [...sessions].flatMap(([id, parts]) => (parts.outlines.length === 0 ? [id] : []))
    if (ids.length === 0) return
    const logs = await this.#options.logs.readRecords(project, ids)
    for (const id of ids) {
      const drafts = logs.flatMap((log) => (log.sessionId === id ? [log.draft] : []))
      sessions.get(id)!.isBuilt = true
      sessions.get(id)!.outlines = logsToSteps(drafts).map((draft) =>
        priceStep(draft.outline, this.#options.pricerOf(project).pricer),
      )
    }
  }

  #findFresh(project: string, ids: readonly string[]): Map<string, FreshSession> {
    const found = new Map<string, FreshSession>()
    for (const id of ids) {
      const session = this.#options.fresh.find(project, id)
      if (session !== undefined) found.set(id, session)
    }
    return found
  }

  /** Finds the sessions whose rows, including replaced ones, all come from this segment. */
  async #findNew(
    project: string,
    ids: readonly string[],
    segment: bigint | undefined,
  ): Promise<ReadonlySet<string>> {
    if (segment === undefined || ids.length === 0) return new Set()
    const result = await this.#options.store.client.query({
      query: `SELECT session_id FROM steps WHERE project = {project:String} AND session_id IN {ids:Array(String)}
        GROUP BY session_id HAVING min(segment) = {segment:UInt64} AND max(segment) = {segment:UInt64}`,
      query_params: { project, ids, segment },
      format: 'JSONEachRow',
    })
    return new Set((await result.json<{ session_id: string }>()).map((row) => row.session_id))
  }

  async #readBuckets(project: string, ids: readonly string[]): Promise<Map<string, number[]>> {
    const buckets = new Map<string, number[]>()
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

  async #insert(rows: readonly SessionRow[]): Promise<void> {
    if (rows.length === 0) return
    const block = new NativeBlock(sessionColumns)
    for (const row of rows) block.append(row)
    await mkdir(this.#options.directory, { recursive: true })
    const path = join(this.#options.directory, `${randomUUID()}.native`)
    try {
      await writeFile(path, Buffer.concat(block.pieces()))
      const columns = Object.keys(sessionColumns).join(', ')
      await this.#options.store.insertFile(
        `INSERT INTO sessions (${columns}) FORMAT Native`,
        path,
        randomUUID(),
      )
      this.#options.store.sessions.written(rows)
    } catch (error) {
      // It may have been stored all the same.
      this.#options.store.sessions.changed()
      throw error
    } finally {
      await rm(path, { force: true })
    }
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

function asOne(
  id: string,
  traceIds: readonly string[],
  parts: ReadonlyMap<string, SessionParts>,
): SessionParts {
  const traces = traceIds.map((traceId) => parts.get(traceId)!)
  return {
    outlines: asOneSession(
      id,
      traces.flatMap(({ outlines }) => outlines),
    ),
    logs: traces.flatMap(({ logs }) => logs),
    scores: traces.flatMap(({ scores }) => scores),
    receivedMs: traces.flatMap(({ receivedMs }) => receivedMs),
    buckets: undefined,
    isBuilt: traces.every(({ isBuilt }) => isBuilt),
    traceIds,
  }
}
