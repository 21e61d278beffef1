import {
  ownsError,
  isCostIncomplete,
  summarizeSession,
  type Effect,
  type EndState,
  type Score,
  type ScoreValue,
  type Session,
  type Step,
  type StepError,
  type StepStatus,
  type Usage,
} from '@playhead/model'
import type { ScoreOptions } from './record-score.ts'

/** An action of a session: a tool call, a recorded function, or an event passed to `record`. */
export type RecordedAction = {
  /** Its name, for example "fetch_customer_data". */
  actionType: string
  /** Its arguments: by name if the names are known, otherwise as a list. */
  params: unknown
  /** What it returned. */
  returns: unknown
  effect?: Effect
  status: StepStatus
  error?: StepError
  startedAt: string
  durationMs: number | null
  stepId: string
}

/** An error of a session, with the step that caused it. */
export type RecordedError = StepError & { step: Step }

const ownSources = new WeakSet<SessionSource>()

/** Marks a source as ours. The class is public, and a host may pass anything to its constructor. */
export function ownSource(source: SessionSource): SessionSource {
  ownSources.add(source)
  return source
}

/** Provides what a view shows. */
export type SessionSource = {
  id: string
  url: string
  /** Undefined if it can't be read. */
  read(options: { isPriced: boolean }): Session | undefined
  score?(name: string, value: ScoreValue, options: ScoreOptions): void
}

/**
 * A session as seen by the process that records it. It can be read at any time, while it runs and after it has ended, with
 * or without a server.
 *
 * @example
 * const session = playhead.getSession()
 * session.actionEvents.map((event) => event.actionType) // ["classify_intent", "fetch_customer_data", "session_complete"]
 * session.cost // 0.00042
 */
export class SessionView {
  readonly #source: SessionSource

  constructor(source: SessionSource) {
    this.#source = ownSources.has(source) ? source : emptySource
  }

  /** The trace id: 32 hex digits. Empty if nothing is being recorded. */
  get id(): string {
    return this.#source.id
  }

  /** The address of the replay, or of the recording file if nothing is sent to a server. */
  get url(): string {
    return this.#source.url
  }

  get name(): string {
    return this.#summary.name
  }

  /** US dollars, at the same prices as on the server. 0 before the first call; null if no call could be priced. */
  get cost(): number | null {
    const { session } = this.#priced
    return session.cost ?? (isCostIncomplete(session) ? null : 0)
  }

  /** Models whose price is unknown: `cost` does not include them. */
  get unpricedModels(): string[] {
    return this.#priced.session.unpricedModels
  }

  /** Models of calls that reported no usage: `tokens` and `cost` do not include them. */
  get modelsWithoutUsage(): string[] {
    return this.#priced.session.modelsWithoutUsage ?? []
  }

  get tokens(): Usage {
    return this.#summary.usage
  }

  /** All recorded steps, ordered by start time. */
  get steps(): Step[] {
    return this.#priced.steps
  }

  /** Model calls. A call that two instrumentations reported is listed once. */
  get llmCalls(): Step[] {
    return this.#priced.steps.filter(({ kind, usageScope }) => kind === 'llm' && isCall(usageScope))
  }

  get actionEvents(): RecordedAction[] {
    return this.#unpriced.steps.filter((step) => step.kind === 'action').map(toAction)
  }

  /** Each error once, with the step that threw or returned it. */
  get errors(): RecordedError[] {
    return this.#unpriced.steps
      .filter((step) => step.error !== undefined && ownsError(step))
      .map((step) => ({ ...step.error!, step }))
  }

  get tags(): string[] {
    return this.#summary.tags
  }

  get metadata(): Record<string, unknown> {
    return this.#summary.metadata ?? {}
  }

  /** All scores of the session and its steps, newest first. */
  get scores(): Score[] {
    return this.#unpriced.scores ?? []
  }

  /**
   * Gives the session a score: a number, yes or no, or a word. It may have ended. Several of one name are kept, and the
   * newest counts.
   *
   * @example
   * session.score("helpful", 1)
   * session.score("tone", "rude", { source: "user", comment: "it shouted", step: session.llmCalls[0] })
   */
  score(name: string, value: ScoreValue, options: ScoreOptions = {}): void {
    this.#source.score?.(name, value, options)
  }

  /** `running` until the session ends. */
  get endState(): EndState {
    return this.#summary.endState
  }

  get endStateReason(): string | undefined {
    return this.#summary.endStateReason
  }

  /** Null while it runs. */
  get durationMs(): number | null {
    return this.#summary.durationMs
  }

  get startedAt(): string {
    return this.#summary.startedAt
  }

  /** The whole session, in the format of the API and of recordings. */
  toJSON(): Session {
    const { session, ...rest } = this.#priced
    return { session: { ...session, url: this.url }, ...rest }
  }

  get #priced(): Session {
    return this.#source.read({ isPriced: true }) ?? emptySource.read()
  }

  get #unpriced(): Session {
    return this.#source.read({ isPriced: false }) ?? emptySource.read()
  }

  get #summary(): Session['session'] {
    return this.#unpriced.session
  }
}

/** Rollups and duplicates repeat the usage of other steps. */
function isCall(scope: Step['usageScope']): boolean {
  return scope !== 'duplicate' && scope !== 'rollup'
}

function toAction(step: Step): RecordedAction {
  const { tool, input, output, effect, error } = step
  return {
    actionType: tool?.name ?? step.name,
    params: tool?.arguments ?? input,
    returns: tool?.result === undefined ? output : tool.result,
    ...(effect !== undefined && { effect }),
    status: step.status,
    ...(error !== undefined && { error }),
    startedAt: step.startedAt,
    durationMs: step.durationMs,
    stepId: step.id,
  }
}

const emptySource = {
  id: '',
  url: '',
  read: (): Session => ({ session: summarizeSession([], { nowMs: 0, lastHeardAtMs: 0 }), steps: [] }),
}

/** The view that callers get if nothing is recorded. */
export const emptyView = new SessionView(emptySource)
