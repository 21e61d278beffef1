import { isSameCall, type StepOutline } from '@playhead/model'
import type { Store } from '../store/connect.ts'
import { RecentCalls, type Call } from './recent-calls.ts'

type Verdict = { call: Call; keptSessionId: string; isDuplicate: boolean }

/** Longer strings are not ids, and would fill the memory. */
const MAX_RESPONSE_ID = 500

/**
 * Finds model calls that two instrumentations reported in two sessions, so that each is counted once. Compares recent calls
 * in memory and stores the duplicates in `duplicate_calls`, so that a later refresh gets the same result.
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

  /** Returns the duplicate steps of these sessions, and the other sessions that have to be refreshed because of them. */
  async find(
    project: string,
    sessions: ReadonlyMap<string, { outlines: readonly StepOutline[] }>,
  ): Promise<{ duplicates: Map<string, Set<string>>; changedElsewhere: string[] }> {
    const verdicts: Verdict[] = []
    for (const { outlines } of sessions.values()) {
      for (const outline of outlines) {
        const { responseId, endedAtMs } = outline
        if (responseId === undefined || responseId.length > MAX_RESPONSE_ID || endedAtMs === null) continue
        verdicts.push(...this.#compare(project, responseId, this.#recent.describe(outline)))
      }
    }
    if (verdicts.length > 0) await this.#save(project, verdicts)
    const duplicates = await this.readKnown(project, [...sessions.keys()])
    const changedElsewhere = new Set(
      verdicts.map(({ call }) => call.sessionId).filter((id) => !sessions.has(id)),
    )
    return { duplicates, changedElsewhere: [...changedElsewhere] }
  }

  /** Compares a call with calls of other sessions that have the same response id. Returns only new verdicts. */
  #compare(project: string, responseId: string, call: Call): Verdict[] {
    const calls = this.#recent.of(project, responseId)
    const others = calls.filter((other) => other.sessionId !== call.sessionId || other.id !== call.id)
    this.#recent.remember(project, responseId, [...others, call])
    const twin = others.find((other) => other.sessionId !== call.sessionId && isSameCall(other, call))
    if (twin === undefined) return []
    const [kept, dropped] = isBetter(call, twin) ? [call, twin] : [twin, call]
    const wasKnown = calls.length > others.length
    // Nothing new. Otherwise two sessions would refresh each other forever.
    if (wasKnown && kept === twin) return []
    return [
      { call: dropped, keptSessionId: kept.sessionId, isDuplicate: true },
      { call: kept, keptSessionId: kept.sessionId, isDuplicate: false },
    ]
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
        version: Date.now() * 1_000,
      })),
    })
  }

  /** Reads which steps of these sessions are known to be counted in another session. */
  async readKnown(project: string, ids: readonly string[]): Promise<Map<string, Set<string>>> {
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

/** The call with more to say about its cost is the one that counts. */
function isBetter(left: Call, right: Call): boolean {
  if (left.relevance !== right.relevance) return left.relevance > right.relevance
  return left.sessionId < right.sessionId
}
