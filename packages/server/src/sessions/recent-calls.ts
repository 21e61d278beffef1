import { TextTable } from './text-table.ts'
import {
  costRelevance,
  isSameCall,
  isSameCallByFigures,
  type ReportedCall,
  type StepOutline,
} from '@playhead/model'

/** Only part of the outline: a hundred thousand whole ones would fill the memory. */
export type Call = ReportedCall &
  Pick<StepOutline, 'sessionId' | 'id' | 'parentId'> & {
    relevance: number
    /** The other report of this call, once it was found by its figures. */
    twin?: string
  }

/**
 * Whether a call is counted in its own session or in another one: `otherSessionId`. A call that counts may take its figures
 * from the report in the other session.
 */
export type Verdict = { call: Call; otherSessionId: string; isDuplicate: boolean; takesFigures?: boolean }

/** Longer strings are not ids, and would fill the memory. */
const MAX_RESPONSE_ID = 500
/** Two reports of one call arrive within seconds. A call is remembered for one to two generations. */
const GENERATION_MS = 120_000
/** The most response ids in a generation, however fast they arrive, and the most memory for them. */
const GENERATION_SIZE = 50_000
const GENERATION_BYTES = 24 * 1024 * 1024
/** A scripted model gives every call the same response id. Of those, the latest are enough. */
const CALLS_PER_RESPONSE = 32

/** Recent calls by project and response id, as JSON. They expire a generation at a time. */
export class RecentCalls {
  readonly #now: () => number
  #young = new TextTable()
  #old = new TextTable()
  #youngSinceMs: number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
    this.#youngSinceMs = now()
  }

  /** How many response ids are remembered. */
  get size(): number {
    return this.#young.size + this.#old.size
  }

  of(project: string, responseId: string): Call[] {
    const key = keyOf(project, responseId)
    const text = this.#young.get(key) ?? this.#old.get(key)
    return text === undefined ? [] : (JSON.parse(text) as Packed[]).map((packed) => unpack(packed))
  }

  /** Replaces the calls of this response id. */
  remember(project: string, responseId: string, calls: readonly Call[]): void {
    const key = keyOf(project, responseId)
    const text = JSON.stringify(calls.slice(-CALLS_PER_RESPONSE).map((call) => pack(call)))
    // Whenever a session is computed, its calls come again.
    if (this.#young.get(key) === text) return
    this.#young.set(key, text)
    const isFull = this.#young.size >= GENERATION_SIZE || this.#young.bytes >= GENERATION_BYTES
    if (isFull || this.#now() - this.#youngSinceMs >= GENERATION_MS) this.#startGeneration()
  }

  /** Compares a call with reports of other sessions. Returns only new verdicts. */
  compare(project: string, outline: StepOutline): Verdict[] {
    const { responseId, endedAtMs } = outline
    if (endedAtMs === null) return []
    if (responseId !== undefined && responseId.length <= MAX_RESPONSE_ID) {
      const verdicts = this.#compareUnder(project, responseId, outline)
      if (verdicts !== undefined) return verdicts
    }
    return this.#compareFigures(project, outline)
  }

  /** Returns undefined if there is no other report of the call under this key. */
  #compareUnder(project: string, responseId: string, outline: StepOutline): Verdict[] | undefined {
    const call = this.describe(outline)
    const calls = this.of(project, responseId)
    const others = calls.filter((other) => !isSameReport(other, call))
    this.remember(project, responseId, [...others, call])
    const twin = others.find((other) => other.sessionId !== call.sessionId && isSameCall(other, call))
    return twin === undefined ? undefined : decide(call, twin, calls.length > others.length)
  }

  /** Reports of one call end in the same second, or in the next. */
  #compareFigures(project: string, outline: StepOutline): Verdict[] {
    const { usage, parentId, responseId, kind } = outline
    const mayLackTwin = kind === 'llm' && (parentId === null || responseId === undefined)
    if (!mayLackTwin || (usage?.output ?? 0) === 0) return []
    const second = Math.floor(outline.endedAtMs! / 1_000)
    const keyIn = (then: number) => `\0${usage!.output} ${then}`
    const call: Call = { ...this.describe(outline), ...figuresOf(outline) }
    const here = this.of(project, keyIn(second))
    const known = here.find((other) => isSameReport(other, call))
    if (known?.twin !== undefined) call.twin = known.twin
    this.remember(project, keyIn(second), [...here.filter((other) => other !== known), call])
    const near = [here, this.of(project, keyIn(second - 1)), this.of(project, keyIn(second + 1))].flat()
    const twin = near.find(
      (other) =>
        other.sessionId !== call.sessionId &&
        (call.twin === undefined ? other.twin === undefined : call.twin === nameOf(other)) &&
        isSameCallByFigures(other, call),
    )
    if (twin === undefined) return []
    call.twin = nameOf(twin)
    twin.twin = nameOf(call)
    for (const then of [second - 1, second, second + 1]) this.#update(project, keyIn(then), [call, twin])
    return decide(call, twin, known !== undefined)
  }

  /** Remembers a call unless it is known. */
  add(project: string, outline: StepOutline): void {
    const { responseId = '', sessionId, id } = outline
    const calls = this.of(project, responseId)
    if (calls.some((call) => call.sessionId === sessionId && call.id === id)) return
    this.remember(project, responseId, [...calls, this.describe(outline)])
  }

  describe(outline: StepOutline): Call {
    const { sessionId, id, parentId, startedAtMs, endedAtMs, kind, dialect, responseId } = outline
    const call: Call = {
      sessionId,
      id,
      parentId,
      startedAtMs,
      endedAtMs,
      kind,
      dialect,
      name: outline.name,
      relevance: costRelevance(outline),
    }
    if (responseId !== undefined) call.responseId = responseId
    if (outline.reporter !== undefined) call.reporter = outline.reporter
    if (outline.model !== undefined) call.model = outline.model
    if (outline.requestedModel !== undefined) call.requestedModel = outline.requestedModel
    return call
  }

  /** Replaces those of these calls that are remembered under this id. */
  #update(project: string, responseId: string, changed: readonly Call[]): void {
    const calls = this.of(project, responseId)
    const current = calls.map((call) => changed.find((other) => isSameReport(other, call)) ?? call)
    if (calls.length > 0) this.remember(project, responseId, current)
  }

  #startGeneration(): void {
    const oldest = this.#old
    oldest.clear()
    this.#old = this.#young
    this.#young = oldest
    this.#youngSinceMs = this.#now()
  }
}

function decide(call: Call, twin: Call, wasKnown: boolean): Verdict[] {
  const [kept, dropped] = isBetter(call, twin) ? [call, twin] : [twin, call]
  // Nothing new. Otherwise two sessions would refresh each other forever.
  if (wasKnown && kept === twin) return []
  return [
    { call: dropped, otherSessionId: kept.sessionId, isDuplicate: true },
    {
      call: kept,
      otherSessionId: dropped.sessionId,
      isDuplicate: false,
      takesFigures: dropped.relevance > kept.relevance,
    },
  ]
}

/** The call of a run counts, else the one with more to say about its cost. */
function isBetter(left: Call, right: Call): boolean {
  if ((left.parentId === null) !== (right.parentId === null)) return right.parentId === null
  if (left.relevance !== right.relevance) return left.relevance > right.relevance
  return left.sessionId < right.sessionId
}

function isSameReport(left: Call, right: Call): boolean {
  return left.sessionId === right.sessionId && left.id === right.id
}

function nameOf({ sessionId, id }: Call): string {
  return `${sessionId} ${id}`
}

function figuresOf({ usage, outputPreview }: StepOutline): Pick<Call, 'usage' | 'outputPreview'> {
  return {
    usage: { input: usage?.input ?? 0, output: usage?.output ?? 0 },
    ...(outputPreview !== undefined && { outputPreview }),
  }
}

function keyOf(project: string, responseId: string): string {
  return `${project}\0${responseId}`
}

/** The fields of a call in this order, without those at the end that it lacks: names of fields would take half of the memory. */
const packedFields = [
  'sessionId',
  'id',
  'parentId',
  'startedAtMs',
  'endedAtMs',
  'kind',
  'dialect',
  'name',
  'relevance',
  'reporter',
  'model',
  'requestedModel',
  'twin',
  'usage',
  'outputPreview',
  'responseId',
] as const satisfies readonly (keyof Call)[]

type Packed = unknown[]

function pack(call: Call): Packed {
  const packed: unknown[] = packedFields.map((field) => call[field] ?? null)
  while (packed.at(-1) === null) packed.pop()
  return packed
}

function unpack(packed: Packed): Call {
  const call: Record<string, unknown> = { parentId: null, endedAtMs: null }
  for (const [index, value] of packed.entries()) if (value !== null) call[packedFields[index]!] = value
  return call as unknown as Call
}
