import { costRelevance, isSameCall, type ReportedCall, type StepOutline } from '@playhead/model'

/** Only part of the outline: a hundred thousand whole ones would fill the memory. */
export type Call = ReportedCall & Pick<StepOutline, 'sessionId' | 'id'> & { relevance: number }

/** Whether a call is counted in its own session or in another one. */
export type Verdict = { call: Call; keptSessionId: string; isDuplicate: boolean }

/** Longer strings are not ids, and would fill the memory. */
const MAX_RESPONSE_ID = 500
/** Two reports of one call arrive within seconds. A call is remembered for one to two generations. */
const GENERATION_MS = 120_000
/** The most response ids in a generation, however fast they arrive. */
const GENERATION_SIZE = 50_000
/** A scripted model gives every call the same response id. Of those, the latest are enough. */
const CALLS_PER_RESPONSE = 32

/** Recent calls by project and response id. They expire a generation at a time. */
export class RecentCalls {
  readonly #now: () => number
  #young = new Map<string, Call[]>()
  #old = new Map<string, Call[]>()
  #names = new Map<string, string>()
  #youngSinceMs: number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
    this.#youngSinceMs = now()
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  of(project: string, responseId: string): readonly Call[] {
    const key = keyOf(project, responseId)
    return this.#young.get(key) ?? this.#old.get(key) ?? []
  }

  /** Replaces the calls of this response id. */
  remember(project: string, responseId: string, calls: readonly Call[]): void {
    const key = keyOf(project, responseId)
    this.#old.delete(key)
    this.#young.set(key, calls.slice(-CALLS_PER_RESPONSE))
    const isFull = this.#young.size >= GENERATION_SIZE
    if (isFull || this.#now() - this.#youngSinceMs >= GENERATION_MS) this.#startGeneration()
  }

  /** Compares a call with calls of other sessions that have the same response id. Returns only new verdicts. */
  compare(project: string, outline: StepOutline): Verdict[] {
    const { responseId, endedAtMs } = outline
    if (responseId === undefined || responseId.length > MAX_RESPONSE_ID || endedAtMs === null) return []
    const call = this.describe(outline)
    const calls = this.of(project, responseId)
    const others = calls.filter((other) => other.sessionId !== call.sessionId || other.id !== call.id)
    this.remember(project, responseId, [...others, call])
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

  /** Remembers a call unless it is known. */
  add(project: string, outline: StepOutline): void {
    const { responseId = '', sessionId, id } = outline
    const calls = this.of(project, responseId)
    if (calls.some((call) => call.sessionId === sessionId && call.id === id)) return
    this.remember(project, responseId, [...calls, this.describe(outline)])
  }

  describe(outline: StepOutline): Call {
    const { sessionId, id, startedAtMs, endedAtMs, kind, dialect, responseId } = outline
    const call: Call = {
      sessionId,
      id,
      startedAtMs,
      endedAtMs,
      kind,
      dialect,
      name: this.#intern(outline.name),
      relevance: costRelevance(outline),
    }
    if (responseId !== undefined) call.responseId = responseId
    if (outline.reporter !== undefined) call.reporter = this.#intern(outline.reporter)
    if (outline.model !== undefined) call.model = this.#intern(outline.model)
    if (outline.requestedModel !== undefined) call.requestedModel = this.#intern(outline.requestedModel)
    return call
  }

  #startGeneration(): void {
    this.#old = this.#young
    this.#young = new Map()
    this.#names = new Map()
    this.#youngSinceMs = this.#now()
  }

  /** Calls of one agent share their strings, which saves memory. */
  #intern(name: string): string {
    const known = this.#names.get(name)
    if (known === undefined) this.#names.set(name, name)
    return known ?? name
  }
}

/** The call with more to say about its cost is the one that counts. */
function isBetter(left: Call, right: Call): boolean {
  if (left.relevance !== right.relevance) return left.relevance > right.relevance
  return left.sessionId < right.sessionId
}

function keyOf(project: string, responseId: string): string {
  return `${project}\0${responseId}`
}
