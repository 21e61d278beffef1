import type { ReportedEndState } from './end-state.ts'
import type { Message, ToolDefinition } from './message.ts'
import type { RerunFacts } from './rerun.ts'
import type { SessionTest } from './session.ts'
import type { Attributes } from '../otlp/span.ts'
import type {
  Effect,
  StepSource,
  RetrievedDocument,
  StepChange,
  StepError,
  StepKind,
  StepStatus,
  StepTool,
  Streaming,
} from './step.ts'
import type { ScoreDraft } from './score.ts'
import type { Usage } from './usage.ts'

/** What a step says about its session. The root takes precedence over other steps. */
export type SessionFacts = {
  name?: string
  threadId?: string
  userId?: string
  tags?: string[]
  environment?: string
  /** The version of the program: `service.version`. */
  version?: string
  endState?: ReportedEndState
  endStateReason?: string
  test?: SessionTest
  vcs?: { branch?: string; commit?: string }
  metadata?: Record<string, unknown>
  demo?: boolean
  rerun?: RerunFacts
}

/**
 * A question that only the whole session can answer; `resolveSteps` does.
 * - `llm-unless-model-below`: Mastra's model_generation is the model call only when no step below reports it.
 * - `agent-if-tools-below`: Vercel's generateText is an agent if it used a tool or took several steps, else a
 * workflow.
 * - `workflow-if-ai-below`: a plain Langfuse span is a workflow if GenAI steps are below it, else `other`.
 * - `parent-by-time`: every step names the root as its parent (AgentOps TS); the times show the real nesting.
 */
export type TreeQuestion =
  | 'llm-unless-model-below'
  | 'agent-if-tools-below'
  | 'workflow-if-ai-below'
  | 'parent-by-time'

/** A tool that a model asked for. */
export type ToolRequest = { id?: string; name: string; inputPreview?: string }

/** A tool's result that was sent to a model. The error is what the result says. */
export type ToolAnswer = { id?: string; name?: string; outputPreview?: string; error?: StepError }

/** The steps of other traces that a root names as its cause, or that a model call continues. */
export type CauseElsewhere = {
  steps: { traceId: string; stepId: string }[]
  /** True when the root sends or handles a message, which may have waited for it. */
  isMessage?: boolean
  /** True for a model call with the results of tools that an earlier call asked for. */
  isContinued?: boolean
}

/** The small part of a step: all that lists, trees and totals need. */
export type StepOutline = {
  sessionId: string
  id: string
  parentId: string | null
  isParentRemote: boolean
  /** Milliseconds since 1970, precise to a quarter of a microsecond. */
  startedAtMs: number
  endedAtMs: number | null
  kind: StepKind
  name: string
  dialect: string
  /** The instrumentation that reported the step: OpenTelemetry's scope. */
  reporter?: string
  status: StepStatus
  error?: StepError
  model?: string
  requestedModel?: string
  provider?: string
  usage?: Usage
  /** True when the dialect marks this usage as the sum of its children's. */
  isUsageRollup?: boolean
  /** True when the instrumentation estimated the tokens. */
  isUsageEstimated?: boolean
  /** US dollars as reported by the sender; absent for a reported 0 on a call with tokens. */
  reportedCost?: number
  /** US dollars, set by `priceStep`; absent when neither reported nor computed. */
  cost?: number
  /** `no-price`: the rates of the model are unknown. */
  costSource?: 'reported' | 'computed' | 'no-price'
  responseId?: string
  finishReasons?: string[]
  attempt?: number
  toolName?: string
  toolCallId?: string
  /** The tools that a model asked for, and the results that it got since its previous reply. */
  toolRequests?: ToolRequest[]
  toolAnswers?: ToolAnswer[]
  agent?: string
  effect?: Effect
  source?: StepSource
  handoff?: { from?: string; to?: string }
  guardrail?: { name?: string; isTriggered?: boolean }
  firstTokenMs?: number
  /** True when the stream ended before the model had finished. */
  isStreamAborted?: boolean
  inputPreview?: string
  /** What the user said last, if the last message is a tool's result. */
  questionPreview?: string
  outputPreview?: string
  isTruncated?: boolean
  /** True when nobody reported the step: the conversation shows that it took place. */
  isInferred?: boolean
  /** What later copies of the step said differently, oldest first. */
  changes?: StepChange[]
  treeQuestion?: TreeQuestion
  cause?: CauseElsewhere
  scores?: ScoreDraft[]
  /** True for a span that only brings a score: it is no step. */
  isScore?: true
  session?: SessionFacts
}

/** The large part of a step, loaded when somebody opens it. */
export type StepContent = {
  input?: unknown
  output?: unknown
  messages?: Message[]
  toolDefinitions?: ToolDefinition[]
  parameters?: Record<string, unknown>
  tool?: StepTool
  retrieval?: { query?: string; documents?: RetrievedDocument[] }
  streaming?: Streaming
  error?: StepError
  attributes: Attributes
}

/** A dialect that threw while it read a span. This is a bug, whatever the sender wrote. */
export type DialectFailure = { dialect: string; message: string }

/** The step that its dialects read from one span. If a dialect failed, the others still did. */
export type StepDraft = { outline: StepOutline; content: StepContent; failures?: DialectFailure[] }
