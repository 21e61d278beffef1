import type { Message } from './message.ts'
import type { Attributes, AttributeValue } from '../otlp/span.ts'
import type { StepError, StepKind } from './step.ts'
import type { SessionFacts, ToolAnswer, ToolRequest } from './step-draft.ts'
import type { ScoreDraft } from './score.ts'
import type { Usage } from './usage.ts'

/**
 * The small part of a log record. Most records are only shown beside their step. Some instrumentations send prompts,
 * costs or errors as logs; those records also `add` to the step.
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
   * The step it adds to, if that is not `stepId` itself: a step of this kind at or below `stepId`, matched by call
   * id, or in order of time (the n-th record goes to the n-th step).
   */
  joinTo?: { kind: StepKind; toolCallId?: string }
  /** Order among records with the same timestamp. */
  sequence?: number
  inputPreview?: string
  outputPreview?: string
  toolRequests?: ToolRequest[]
  toolAnswers?: ToolAnswer[]
  model?: string
  usage?: Usage
  reportedCost?: number
  error?: StepError
  session?: SessionFacts
  scores?: ScoreDraft[]
}

/** The large part of a log record, loaded on demand. */
export type LogContent = {
  body: AttributeValue
  attributes: Attributes
  /** The messages it carries for its step, in order; those of the reply are marked `isOutput`. */
  messages?: Message[]
  input?: unknown
  output?: unknown
}

export type LogDraft = { outline: LogOutline; content: LogContent }
