import {
  ownsError,
  summarizeSession,
  type Effect,
  type EndState,
  type Session,
  type Step,
  type StepError,
  type StepStatus,
  type Usage,
} from '@playhead/model'

/** An action of a session: a tool call, a recorded function, or what `record` was told of. */
export type RecordedAction = {
  /** Its name: "fetch_customer_data". */
  actionType: string
  /** What it was called with, by name where the names are known, else as a list. */
  params: unknown
  /** What it returned. */
  returns: unknown
  effect?: Effect
  status: StepStatus
  error?: StepError
  startedAt: string
  durationMs: number | null
  /** The step that it is. */
  stepId: string
}

/** An error of a session, with the step that caused it. */
export type RecordedError = StepError & { step: Step }

/** Where a view gets what it shows. */
export type SessionSource = {
  id: string
  url: string
  read(options: { isPriced: boolean }): Session
}

/**
 * A session as the process that records it sees it: readable at any time, while it runs and after it ended, with or without
 * a server.
 *
 * @example
 * const session = playhead.getSession()
 * session.actionEvents.map((event) => event.actionType) // ["classify_intent", "fetch_customer_data", "session_complete"]
 * session.cost // 0.00042
 */
export class SessionView {
  readonly #source: SessionSource

  constructor(source: SessionSource) {
    this.#source = source
  }

  /** 32 hex digits, the trace id. Empty when nothing is being recorded. */
  get id(): string {
    return this.#source.id
  }

  /** Opens the replay; the address of the recording when nothing is sent to a server. */
  get url(): string {
    return this.#source.url
  }

  get name(): string {
    return this.#summary.name
  }

  /** US dollars, by the same prices as on the server; 0 before the first call. Null when none of the calls could be priced. */
  get cost(): number | null {
    const { cost, unpricedModels } = this.#priced.session
    return cost ?? (unpricedModels.length === 0 ? 0 : null)
  }

  /** Models that were used and whose price is unknown: `cost` lacks them. */
  get unpricedModels(): string[] {
    return this.#priced.session.unpricedModels
  }

  get tokens(): Usage {
    return this.#summary.usage
  }

  /** Everything that was recorded, in the order in which it began. */
  get steps(): Step[] {
    return this.#priced.steps
  }

  /** Calls to models; one that two instrumentations saw is one. */
  get llmCalls(): Step[] {
    return this.#priced.steps.filter(({ kind, usageScope }) => kind === 'llm' && isCall(usageScope))
  }

  get actionEvents(): RecordedAction[] {
    return this.#unpriced.steps.filter((step) => step.kind === 'action').map(toAction)
  }

  /** Each error once, with the step that threw it or returned it. */
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

  /** `running` until it ends. */
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

  /** The whole session, in the words of the API and of recordings. */
  toJSON(): Session {
    const { session, steps } = this.#priced
    return { session: { ...session, url: this.url }, steps }
  }

  get #priced(): Session {
    return this.#source.read({ isPriced: true })
  }

  get #unpriced(): Session {
    return this.#source.read({ isPriced: false })
  }

  get #summary(): Session['session'] {
    return this.#unpriced.session
  }
}

/** What only sums up or repeats other steps is not a call of its own. */
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

/** What code sees that asks for a session where nothing is recorded. */
export const emptyView = new SessionView({
  id: '',
  url: '',
  read: () => ({ session: summarizeSession([], { nowMs: 0, lastHeardAtMs: 0 }), steps: [] }),
})
