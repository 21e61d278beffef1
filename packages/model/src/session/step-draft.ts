import type { ReportedEndState } from './end-state.ts'
import type { Message, ToolDefinition } from './message.ts'
import type { SessionTest } from './session.ts'
import type { Attributes } from '../otlp/span.ts'
import type {
  Effect,
  RetrievedDocument,
  StepError,
  StepKind,
  StepStatus,
  StepTool,
  Streaming,
} from './step.ts'
import type { Usage } from './usage.ts'

/** What a step says of the session it is in. The root's word counts before the others'. */
export type SessionFacts = {
  name?: string
  threadId?: string
  userId?: string
  tags?: string[]
  environment?: string
  endState?: ReportedEndState
  endStateReason?: string
  test?: SessionTest
  vcs?: { branch?: string; commit?: string }
  metadata?: Record<string, unknown>
  demo?: boolean
}

/**
 * Rules that only the whole session can decide; the dialect leaves the question here and `assembleSession` answers it.
 * - `llm-unless-model-below`: Mastra's model_generation is the call itself only when no finer step reports it.
 * - `agent-if-tools-below`: Vercel's generateText is an agent when it used a tool or took several steps, else a workflow.
 * - `workflow-if-ai-below`: a plain Langfuse span is a workflow when GenAI steps are below it, else `other`.
 * - `parent-by-time`: every step names the root as its parent (AgentOps TS); the true nesting is in the times.
 */
export type TreeQuestion =
  | 'llm-unless-model-below'
  | 'agent-if-tools-below'
  | 'workflow-if-ai-below'
  | 'parent-by-time'

/** The thin part of what one span says: all that lists, trees and sums need. */
export type StepOutline = {
  sessionId: string
  id: string
  parentId: string | null
  isParentRemote: boolean
  /** Milliseconds since 1970 with fractions; precise to a quarter of a microsecond. */
  startedAtMs: number
  endedAtMs: number | null
  kind: StepKind
  name: string
  dialect: string
  /** The instrumentation that wrote it, where it says: OpenTelemetry's scope. */
  reporter?: string
  status: StepStatus
  error?: StepError
  model?: string
  requestedModel?: string
  provider?: string
  usage?: Usage
  /** True when the dialect says that this usage repeats its children's, whatever the tree looks like. */
  isUsageRollup?: boolean
  /** True when the tokens were guessed by the instrumentation. */
  isUsageEstimated?: boolean
  /** US dollars as the sender reported them; a reported 0 for a call with tokens is no report. */
  reportedCost?: number
  /** US dollars, set by `priceStep`; absent when neither reported nor computable. */
  cost?: number
  costSource?: 'reported' | 'computed'
  responseId?: string
  finishReasons?: string[]
  attempt?: number
  toolName?: string
  toolCallId?: string
  agent?: string
  effect?: Effect
  handoff?: { from?: string; to?: string }
  guardrail?: { name?: string; isTriggered?: boolean }
  firstTokenMs?: number
  inputPreview?: string
  outputPreview?: string
  isTruncated?: boolean
  treeQuestion?: TreeQuestion
  session?: SessionFacts
}

/** The heavy part: what is loaded for a step that somebody looks at. */
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

/** A dialect that threw while it read a span: a bug of ours, whatever the sender wrote. */
export type DialectFailure = { dialect: string; message: string }

/** What its dialects read from one span. The step is there even if one of them failed. */
export type StepDraft = { outline: StepOutline; content: StepContent; failures?: DialectFailure[] }
