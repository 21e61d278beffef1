import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import {
  logsToSteps,
  priceStep,
  resolveSteps,
  type LogOutline,
  type Pricer,
  type ResolvedStep,
  type StepOutline,
} from '@playhead/model'
import { NativeBlock } from '../log/native-block.ts'
import type { Store } from '../store/connect.ts'
import type { VersionClock } from '../store/version-clock.ts'
import type { DuplicateCalls } from './duplicate-calls.ts'
import { sessionColumns, toSessionRow, toTombstone, type SessionRow } from '../store/sessions-table.ts'
import type { StoredLogs } from './stored-logs.ts'
import { readJoinedOutlines, type DeriveCopies } from './step-copies.ts'
import { lastHeardAt } from './stored-steps.ts'

/** Everything a refresh needs to know about one session. */
type SessionParts = { outlines: StepOutline[]; logs: LogOutline[]; receivedMs: number[]; isNew: boolean }

const BATCH_SESSIONS = 1_000

export type RefresherOptions = {
  store: Store
  versions: VersionClock
  /** Holds the rows of an insert as a temporary file. */
  directory: string
  logs: StoredLogs
  duplicates: DuplicateCalls
  derive: DeriveCopies
  pricerOf: (project: string) => { pricer: Pricer }
  /** Called for every refreshed session. */
  onRefreshed: (project: string, steps: readonly ResolvedStep[], lastHeardAtMs: number) => void
}

/**
 * Recomputes the rows of `sessions` when new steps or logs arrive. Always starts from the stored steps, so that a span that
 * was sent twice is never counted twice.
 */
export class SessionRefresher {
  readonly #options: RefresherOptions

  constructor(options: RefresherOptions) {
    this.#options = options
  }

  /** `segment` is the segment that was just stored: a session with steps from no other segment is new. */
  async refresh(project: string, ids: readonly string[], segment?: bigint): Promise<void> {
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
    const version = await this.#nextVersion(project, ids, segment)
    const sessions = await this.#readParts(project, ids, segment)
    const { duplicates, changedElsewhere } = await this.#options.duplicates.find(project, sessions)
    const buckets = await this.#readBuckets(
      project,
      [...sessions].flatMap(([id, parts]) => (parts.isNew ? [] : [id])),
    )
    const rows: SessionRow[] = []
    for (const [id, parts] of sessions) {
      if (parts.outlines.length === 0) continue
      const row = this.#summarize(project, id, { parts, version, duplicateSteps: duplicates.get(id) })
      if (row === undefined) continue
      rows.push(row)
      for (const bucket of buckets.get(id) ?? [])
        if (bucket !== row.bucket) rows.push(toTombstone(row, bucket))
    }
    await this.#insert(rows)
    return changedElsewhere.filter((id) => !sessions.has(id))
  }

  /** One session that can't be summarized must not keep the others from being stored. */
  #summarize(
    project: string,
    id: string,
    given: { parts: SessionParts; version: number; duplicateSteps: ReadonlySet<string> | undefined },
  ): SessionRow | undefined {
    const { parts, version, duplicateSteps } = given
    const lastHeardAtMs = lastHeardAt(parts.receivedMs, Date.now())
    try {
      const { pricer } = this.#options.pricerOf(project)
      const steps = resolveSteps(parts.outlines, parts.logs, { duplicateSteps, pricer })
      const row = toSessionRow(project, steps, { version, lastHeardAtMs })
      this.#options.onRefreshed(project, steps, lastHeardAtMs)
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
    const [steps, logs, newIds] = await Promise.all([
      readJoinedOutlines(this.#options, project, ids),
      this.#options.logs.readOutlines(project, ids),
      this.#findNew(project, ids, segment),
    ])
    const sessions = new Map<string, SessionParts>()
    const partsOf = (id: string) => {
      let parts = sessions.get(id)
      if (parts === undefined) {
        parts = { outlines: [], logs: [], receivedMs: [], isNew: newIds.has(id) }
        sessions.set(id, parts)
      }
      return parts
    }
    for (const { outline, receivedMs } of steps) {
      const parts = partsOf(outline.sessionId)
      parts.outlines.push(outline)
      parts.receivedMs.push(receivedMs)
    }
    for (const { outline, receivedMs } of logs) {
      const parts = partsOf(outline.sessionId)
      parts.logs.push(outline)
      parts.receivedMs.push(receivedMs)
      parts.isNew = false
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
      sessions.get(id)!.outlines = logsToSteps(drafts).map((draft) =>
        priceStep(draft.outline, this.#options.pricerOf(project).pricer),
      )
    }
  }

  /** Finds the sessions whose rows, including replaced ones, all come from this segment. */
  async #findNew(
    project: string,
    ids: readonly string[],
    segment: bigint | undefined,
  ): Promise<ReadonlySet<string>> {
    if (segment === undefined) return new Set()
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
      query: `SELECT session_id, groupUniqArray(bucket) AS buckets FROM sessions
        WHERE project = {project:String} AND session_id IN {ids:Array(String)} AND is_deleted = 0 GROUP BY session_id`,
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
