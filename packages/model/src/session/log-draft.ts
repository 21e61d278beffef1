import type { Message } from './message.ts'
import type { Attributes, AttributeValue } from '../otlp/span.ts'
import type { StepError, StepKind } from './step.ts'
import type { SessionFacts } from './step-draft.ts'
import type { Usage } from './usage.ts'

/**
 * The thin part of what one log record says. Most records are only shown beside their step; those of instrumentations
 * that send prompts, costs or errors as logs also `add` to it.
 */
export type LogOutline = {
  sessionId: string
  stepId: string | null
  atMs: number
  severity: string
  name: string
  adds?: LogAddition
}

export type LogAddition = {
  /**
   * Which step it adds to when `stepId` is not that step itself: the step of this kind at or below `stepId`, found by
   * call id where there is one, else the n-th such record goes to the n-th such step in time.
   */
  joinTo?: { kind: StepKind; toolCallId?: string }
  /** Order among records of one time stamp. */
  sequence?: number
  inputPreview?: string
  outputPreview?: string
  model?: string
  usage?: Usage
  reportedCost?: number
  error?: StepError
  session?: SessionFacts
}

/** The heavy part of a log record. */
export type LogContent = {
  body: AttributeValue
  attributes: Attributes
  /** Messages it carries for its step, in order; those of the answer are marked `isOutput`. */
  messages?: Message[]
  input?: unknown
  output?: unknown
}

export type LogDraft = { outline: LogOutline; content: LogContent }
