import type { StepOutline } from '@playhead/model'
import type { Store } from '../store/connect.ts'
import { outlineFromRow, outlineSelect, type OutlineRow } from '../store/steps-table.ts'
import type { VersionClock } from '../store/version-clock.ts'
import { RecentCalls, type Verdict } from './recent-calls.ts'

export type DuplicateCallsOptions = {
  store: Store
  versions: VersionClock
  /** Whether another server writes to the store. */
  hasOtherNodes: () => boolean
}

/** Two reports of one call arrive within seconds, but maybe at two servers whose clocks differ. */
const REPORTED_WITHIN_MINUTES = 5
/** A scripted model gives every call the same response id. */
const CALLS_PER_RESPONSE = 32

/** What other sessions have to do with the calls of one. */
export type KnownDuplicates = {
  /** The steps that another session counts. */
  duplicateSteps: Set<string>
  /** Steps of other sessions that report more about calls of this one. */
  reportsElsewhere: StepOutline[]
}

type Sessions = ReadonlyMap<string, { outlines: readonly StepOutline[]; traceIds: readonly string[] }>

/**
 * Finds model calls that two instrumentations reported in two sessions, so that each is counted once. Compares recent calls
 * in memory and stores the duplicates in `duplicate_calls`, so that a later refresh gets the same result. Calls that were
 * reported to another server are read from the store.
 */
export class DuplicateCalls {
  readonly #store: Store
  readonly #versions: VersionClock
  readonly #recent = new RecentCalls()
  readonly #hasOtherNodes: () => boolean
  #isAnyKnown: boolean

  private constructor(options: DuplicateCallsOptions, isAnyKnown: boolean) {
    this.#store = options.store
    this.#versions = options.versions
    this.#hasOtherNodes = options.hasOtherNodes
    this.#isAnyKnown = isAnyKnown
  }

  /** Only this process writes to the embedded store, but a ClickHouse server may have other writers. */
  static async open(options: DuplicateCallsOptions): Promise<DuplicateCalls> {
    const { store } = options
    if (store.engine === undefined) return new DuplicateCalls(options, true)
    const result = await store.client.query({
      query: 'SELECT count() > 0 AS known FROM duplicate_calls',
      format: 'JSONEachRow',
    })
    const [row] = await result.json<{ known: number }>()
    return new DuplicateCalls(options, row?.known === 1)
  }

  /** Whether there may be any in the store. */
  get isAny(): boolean {
    return this.#isAnyKnown || this.#hasOtherNodes()
  }

  /** Call it before rows are stored in another way than by `find`. */
  expectSome(): void {
    this.#isAnyKnown = true
  }

  /** Returns the duplicates of these sessions, and the other sessions that have to be refreshed because of them. */
  async find(
    project: string,
    sessions: Sessions,
  ): Promise<{ duplicates: Map<string, KnownDuplicates>; changedElsewhere: string[] }> {
    if (this.#hasOtherNodes()) await this.#rememberOthers(project, sessions)
    const verdicts: Verdict[] = []
    for (const { outlines } of sessions.values())
      for (const outline of outlines) verdicts.push(...this.#recent.compare(project, outline))
    if (verdicts.length > 0) await this.#save(project, verdicts)
    const duplicates = await this.readKnown(
      project,
      new Map([...sessions].map(([id, { traceIds }]) => [id, traceIds])),
    )
    const changedElsewhere = new Set(
      verdicts.map(({ call }) => call.sessionId).filter((id) => !sessions.has(id)),
    )
    return { duplicates, changedElsewhere: [...changedElsewhere] }
  }

  /** Remembers calls with the same response ids that another server has stored. */
  async #rememberOthers(project: string, sessions: Sessions): Promise<void> {
    const outlines = [...sessions.values()].flatMap((session) => session.outlines)
    const responseIds = new Set(
      outlines.flatMap(({ responseId }) => (responseId === undefined ? [] : [responseId])),
    )
    if (responseIds.size === 0) return
    const result = await this.#store.client.query({
      query: `SELECT ${outlineSelect} FROM steps
        WHERE project = {project:String} AND received_at > now64(3) - INTERVAL ${REPORTED_WITHIN_MINUTES} MINUTE
          AND response_id IN {responseIds:Array(String)} AND session_id NOT IN {ids:Array(String)} AND ended_at IS NOT NULL
        ORDER BY received_at DESC LIMIT ${CALLS_PER_RESPONSE} BY response_id`,
      query_params: {
        project,
        responseIds: [...responseIds],
        ids: [...sessions.values()].flatMap(({ traceIds }) => traceIds),
      },
      format: 'JSONEachRow',
    })
    this.#store.badRows
      .readEach('steps', await result.json<OutlineRow>(), {
        idOf: ({ session_id, step_id }) => `${session_id} ${step_id}`,
        read: outlineFromRow,
      })
      .forEach((outline) => this.#recent.add(project, outline))
  }

  async #save(project: string, verdicts: readonly Verdict[]): Promise<void> {
    this.#isAnyKnown = true
    await this.#store.client.insert({
      table: 'duplicate_calls',
      format: 'JSONEachRow',
      values: verdicts.map(({ call, otherSessionId, isDuplicate, takesFigures }) => ({
        project,
        session_id: call.sessionId,
        step_id: call.id,
        response_id: call.responseId ?? '',
        // Of a call that counts: the session with its figures.
        kept_session_id: isDuplicate || takesFigures === true ? otherSessionId : call.sessionId,
        is_duplicate: isDuplicate ? 1 : 0,
        version: this.#versions.next(),
      })),
    })
  }

  /** Reads what is known about the calls of these sessions, given with their traces. */
  async readKnown(
    project: string,
    sessions: ReadonlyMap<string, readonly string[]>,
  ): Promise<Map<string, KnownDuplicates>> {
    const known = new Map<string, KnownDuplicates>()
    if (!this.#isAnyKnown) return known
    const sessionOf = new Map([...sessions].flatMap(([id, traceIds]) => traceIds.map((trace) => [trace, id])))
    const result = await this.#store.client.query({
      query: `SELECT session_id, step_id, kept_session_id, is_duplicate FROM duplicate_calls FINAL
        WHERE project = {project:String} AND session_id IN {ids:Array(String)}
          AND (is_duplicate = 1 OR kept_session_id != session_id)`,
      query_params: { project, ids: [...sessionOf.keys()] },
      format: 'JSONEachRow',
    })
    const rows = await result.json<KnownRow>()
    const reports = await this.#readReports(project, rows)
    for (const row of rows) {
      const id = sessionOf.get(row.session_id)!
      const own = known.get(id) ?? { duplicateSteps: new Set(), reportsElsewhere: [] }
      known.set(id, own)
      if (row.is_duplicate === 1) own.duplicateSteps.add(row.step_id)
      else own.reportsElsewhere.push(...(reports.get(row.kept_session_id) ?? []))
    }
    return known
  }

  /** The calls that stand alone in the sessions that these rows name, by session. */
  async #readReports(project: string, rows: readonly KnownRow[]): Promise<Map<string, StepOutline[]>> {
    const ids = new Set(rows.flatMap((row) => (row.is_duplicate === 1 ? [] : [row.kept_session_id])))
    if (ids.size === 0) return new Map()
    const result = await this.#store.client.query({
      query: `SELECT ${outlineSelect} FROM steps
        WHERE project = {project:String} AND session_id IN {ids:Array(String)} AND parent_id = '' AND ended_at IS NOT NULL
        ORDER BY arrival LIMIT 1 BY session_id, step_id`,
      query_params: { project, ids: [...ids] },
      format: 'JSONEachRow',
    })
    const outlines = this.#store.badRows.readEach('steps', await result.json<OutlineRow>(), {
      idOf: ({ session_id, step_id }) => `${session_id} ${step_id}`,
      read: outlineFromRow,
    })
    return Map.groupBy(outlines, ({ sessionId }) => sessionId)
  }
}

type KnownRow = { session_id: string; step_id: string; kept_session_id: string; is_duplicate: number }
