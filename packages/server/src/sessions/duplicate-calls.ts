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

  /** Call it before rows are stored in another way than by `find`. */
  expectSome(): void {
    this.#isAnyKnown = true
  }

  /** Returns the duplicate steps of these sessions, and the other sessions that have to be refreshed because of them. */
  async find(
    project: string,
    sessions: Sessions,
  ): Promise<{ duplicates: Map<string, Set<string>>; changedElsewhere: string[] }> {
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
      values: verdicts.map(({ call, keptSessionId, isDuplicate }) => ({
        project,
        session_id: call.sessionId,
        step_id: call.id,
        response_id: call.responseId,
        kept_session_id: keptSessionId,
        is_duplicate: isDuplicate ? 1 : 0,
        version: this.#versions.next(),
      })),
    })
  }

  /** Reads which steps of these sessions, given with their traces, are known to be counted in another session. */
  async readKnown(
    project: string,
    sessions: ReadonlyMap<string, readonly string[]>,
  ): Promise<Map<string, Set<string>>> {
    const duplicates = new Map<string, Set<string>>()
    if (!this.#isAnyKnown) return duplicates
    const sessionOf = new Map([...sessions].flatMap(([id, traceIds]) => traceIds.map((trace) => [trace, id])))
    const result = await this.#store.client.query({
      query: `SELECT session_id, step_id FROM duplicate_calls FINAL
        WHERE project = {project:String} AND session_id IN {ids:Array(String)} AND is_duplicate = 1`,
      query_params: { project, ids: [...sessionOf.keys()] },
      format: 'JSONEachRow',
    })
    for (const row of await result.json<{ session_id: string; step_id: string }>()) {
      const id = sessionOf.get(row.session_id)!
      duplicates.set(id, (duplicates.get(id) ?? new Set()).add(row.step_id))
    }
    return duplicates
  }
}
