import { costRelevance, type ReportedCall, type StepOutline } from '@playhead/model'

/** Not the whole outline: a hundred thousand of those would fill the memory. */
export type Call = ReportedCall & Pick<StepOutline, 'sessionId' | 'id'> & { relevance: number }

/** Two reports of one call arrive within seconds of each other: they are remembered for one to two of these. */
const GENERATION_MS = 120_000
/** So many response ids in a generation at most, however fast they come. */
const GENERATION_SIZE = 50_000
/** A scripted model gives every call the same response id: of those the latest are enough. */
const CALLS_PER_RESPONSE = 32

/** The calls that arrived lately, by project and response id. They are forgotten a generation at a time. */
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

  /** In place of those that were remembered under this response id before. */
  remember(project: string, responseId: string, calls: readonly Call[]): void {
    const key = keyOf(project, responseId)
    this.#old.delete(key)
    this.#young.set(key, calls.slice(-CALLS_PER_RESPONSE))
    const isFull = this.#young.size >= GENERATION_SIZE
    if (isFull || this.#now() - this.#youngSinceMs >= GENERATION_MS) this.#forgetOld()
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
      name: this.#shared(outline.name),
      relevance: costRelevance(outline),
    }
    if (responseId !== undefined) call.responseId = responseId
    if (outline.reporter !== undefined) call.reporter = this.#shared(outline.reporter)
    if (outline.model !== undefined) call.model = this.#shared(outline.model)
    if (outline.requestedModel !== undefined) call.requestedModel = this.#shared(outline.requestedModel)
    return call
  }

  #forgetOld(): void {
    this.#old = this.#young
    this.#young = new Map()
    this.#names = new Map()
    this.#youngSinceMs = this.#now()
  }

  /** One string in memory for what all calls of an agent have in common. */
  #shared(name: string): string {
    const known = this.#names.get(name)
    if (known === undefined) this.#names.set(name, name)
    return known ?? name
  }
}

function keyOf(project: string, responseId: string): string {
  return `${project}\0${responseId}`
}
