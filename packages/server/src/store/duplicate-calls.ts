import { costRelevance, isSameCall, type StepOutline } from '@playhead/model'
import type { Store } from './connect.ts'

type Call = { sessionId: string; outline: StepOutline; relevance: number }
type Verdict = { call: Call; keptSessionId: string; isDuplicate: boolean }

/** Calls that are remembered for comparison: two reports of one call arrive within seconds of each other. */
const REMEMBERED_CALLS = 100_000

/**
 * Two instrumentations may report one call to a model as two sessions; it must be counted once. Recent calls are
 * compared in memory, and what is found is kept in `duplicate_calls`, so that a later refresh comes to the same result.
 */
export class DuplicateCalls {
  readonly #store: Store
  readonly #recent = new Map<string, Call[]>()
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
    for (const [sessionId, { outlines }] of sessions) {
      for (const outline of outlines) {
        if (outline.responseId === undefined || outline.endedAtMs === null) continue
        const call = { sessionId, outline: comparable(outline), relevance: costRelevance(outline) }
        verdicts.push(...this.#judge(project, call))
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
  #judge(project: string, call: Call): Verdict[] {
    const key = `${project}\0${call.outline.responseId}`
    const calls = this.#recent.get(key) ?? []
    const others = calls.filter(
      (other) => other.sessionId !== call.sessionId || other.outline.id !== call.outline.id,
    )
    this.#remember(key, [...others, call])
    const twin = others.find(
      (other) => other.sessionId !== call.sessionId && isSameCall(other.outline, call.outline),
    )
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

  #remember(key: string, calls: Call[]): void {
    this.#recent.delete(key)
    this.#recent.set(key, calls)
    if (this.#recent.size <= REMEMBERED_CALLS) return
    const oldest = this.#recent.keys().next().value
    if (oldest !== undefined) this.#recent.delete(oldest)
  }

  async #keep(project: string, verdicts: readonly Verdict[]): Promise<void> {
    this.#isAnyKnown = true
    await this.#store.client.insert({
      table: 'duplicate_calls',
      format: 'JSONEachRow',
      values: verdicts.map(({ call, keptSessionId, isDuplicate }) => ({
        project,
        session_id: call.sessionId,
        step_id: call.outline.id,
        response_id: call.outline.responseId,
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

/** What a call is compared by, and no more: a hundred thousand whole outlines would fill the memory. */
function comparable(outline: StepOutline): StepOutline {
  const { sessionId, id, parentId, isParentRemote, startedAtMs, endedAtMs, kind, name, dialect } = outline
  const { status, reporter, responseId, model, requestedModel } = outline
  const times = { startedAtMs, endedAtMs }
  const call: StepOutline = { sessionId, id, parentId, isParentRemote, ...times, kind, name, dialect, status }
  if (reporter !== undefined) call.reporter = reporter
  if (responseId !== undefined) call.responseId = responseId
  if (model !== undefined) call.model = model
  if (requestedModel !== undefined) call.requestedModel = requestedModel
  return call
}

function isBetter(left: Call, right: Call): boolean {
  if (left.relevance !== right.relevance) return left.relevance > right.relevance
  return left.sessionId < right.sessionId
}
