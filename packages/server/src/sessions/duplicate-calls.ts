import { isSameCall, type StepOutline } from '@playhead/model'
import type { Store } from '../store/connect.ts'
import { RecentCalls, type Call } from './recent-calls.ts'

type Verdict = { call: Call; keptSessionId: string; isDuplicate: boolean }

/** What is longer is no id, and would fill the memory. */
const MAX_RESPONSE_ID = 500

/**
 * Two instrumentations may report one call to a model as two sessions; it must be counted once. Recent calls are
 * compared in memory, and what is found is kept in `duplicate_calls`, so that a later refresh comes to the same result.
 */
export class DuplicateCalls {
  readonly #store: Store
  readonly #recent = new RecentCalls()
  #isAnyKnown: boolean

  private constructor(store: Store, isAnyKnown: boolean) {
    this.#store = store
    this.#isAnyKnown = isAnyKnown
  }

  static async open(store: Store): Promise<DuplicateCalls> {
    const result = await store.client.query({
      query: 'SELECT count() > 0 AS known FROM duplicate_calls',
      format: 'JSONEachRow',
    })
    const [row] = await result.json<{ known: number }>()
    return new DuplicateCalls(store, row?.known === 1)
  }

  /** Which steps of these sessions are counted elsewhere, and which other sessions have to be computed again. */
  async find(
    project: string,
    sessions: ReadonlyMap<string, { outlines: readonly StepOutline[] }>,
  ): Promise<{ duplicates: Map<string, Set<string>>; changedElsewhere: string[] }> {
    const verdicts: Verdict[] = []
    for (const { outlines } of sessions.values()) {
      for (const outline of outlines) {
        const { responseId, endedAtMs } = outline
        if (responseId === undefined || responseId.length > MAX_RESPONSE_ID || endedAtMs === null) continue
        verdicts.push(...this.#judge(project, responseId, this.#recent.describe(outline)))
      }
    }
    if (verdicts.length > 0) await this.#keep(project, verdicts)
    const duplicates = await this.known(project, [...sessions.keys()])
    const changedElsewhere = new Set(
      verdicts.map(({ call }) => call.sessionId).filter((id) => !sessions.has(id)),
    )
    return { duplicates, changedElsewhere: [...changedElsewhere] }
  }

  /** Compares a call with those of other sessions under the same response id; says what is new about either. */
  #judge(project: string, responseId: string, call: Call): Verdict[] {
    const calls = this.#recent.of(project, responseId)
    const others = calls.filter((other) => other.sessionId !== call.sessionId || other.id !== call.id)
    this.#recent.remember(project, responseId, [...others, call])
    const twin = others.find((other) => other.sessionId !== call.sessionId && isSameCall(other, call))
    if (twin === undefined) return []
    const [kept, dropped] = isBetter(call, twin) ? [call, twin] : [twin, call]
    const wasKnown = calls.length > others.length
    // Known before, and nothing about it changed: a refresh of both sessions would go on for ever otherwise.
    if (wasKnown && kept === twin) return []
    return [
      { call: dropped, keptSessionId: kept.sessionId, isDuplicate: true },
      { call: kept, keptSessionId: kept.sessionId, isDuplicate: false },
    ]
  }

  async #keep(project: string, verdicts: readonly Verdict[]): Promise<void> {
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
        version: Date.now() * 1_000,
      })),
    })
  }

  /** The steps of these sessions that are counted in another session, as far as was found. */
  async known(project: string, ids: readonly string[]): Promise<Map<string, Set<string>>> {
    const duplicates = new Map<string, Set<string>>()
    if (!this.#isAnyKnown) return duplicates
    const result = await this.#store.client.query({
      query: `SELECT session_id, step_id FROM duplicate_calls FINAL
        WHERE project = {project:String} AND session_id IN {ids:Array(String)} AND is_duplicate = 1`,
      query_params: { project, ids },
      format: 'JSONEachRow',
    })
    for (const row of await result.json<{ session_id: string; step_id: string }>()) {
      const steps = duplicates.get(row.session_id) ?? new Set()
      duplicates.set(row.session_id, steps.add(row.step_id))
    }
    return duplicates
  }
}

function isBetter(left: Call, right: Call): boolean {
  if (left.relevance !== right.relevance) return left.relevance > right.relevance
  return left.sessionId < right.sessionId
}
