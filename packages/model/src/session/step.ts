import type { Attributes } from '../otlp/span.ts'
import type { Message, ToolDefinition } from './message.ts'
import type { Usage, UsageScope } from './usage.ts'

export const stepKinds = [
  'llm',
  'embedding',
  'action',
  'agent',
  'retrieval',
  'guardrail',
  'handoff',
  'evaluator',
  'workflow',
  'event',
  'other',
] as const

/** Tools are actions; chains are workflows; reranking is retrieval; http, databases and plain code are `other`. */
export type StepKind = (typeof stepKinds)[number]

/** `soft-error`: the step returned normally, but its result says that it failed. */
export type StepStatus = 'ok' | 'error' | 'soft-error' | 'running'

/** Whether an action only reads or also changes something outside the agent. */
export type Effect = 'read' | 'write'

/** What answered a step of a re-run: its recording, a stub in place of a write, or the real thing. */
export type StepSource = 'tape' | 'stub' | 'live'

export type StepError = {
  type: string
  message: string
  stack?: string
  cause?: StepError
  /** True when a step below threw the error and this one passed it on. */
  isPropagated?: boolean
  /** True when the failure was handled: a later attempt succeeded, or the step above went on. */
  isHandled?: boolean
}

export type StepTool = {
  name: string
  callId?: string
  type?: string
  description?: string
  arguments?: unknown
  result?: unknown
}

/** Time to the first token and, where recorded, each chunk as [milliseconds since the step began, text]. */
export type Streaming = {
  firstTokenMs?: number
  chunks?: [offsetMs: number, text: string][]
  /** True when the stream ended before the model had finished. */
  isAborted?: boolean
}

export type LogEntry = {
  at: string
  offsetMs: number
  severity: string
  name: string
  body: unknown
  attributes?: Attributes
}

/** What somebody sent about a step after it had ended, where it differs from what was there. */
export type StepChange = {
  at: string
  /** True if the sender was allowed to replace the step; otherwise the step stayed as it was. */
  isRewrite?: boolean
  fields: ChangedField[]
}

export type ChangedField = { field: string; was: string; sent: string }

export type RetrievedDocument = { id?: string; score?: number; content?: string; metadata?: unknown }

/** One thing the agent did, as the API, recordings and the SDK represent it. Unknown fields are absent. */
export type Step = {
  id: string
  parentId: string | null
  kind: StepKind
  name: string
  startedAt: string
  endedAt: string | null
  offsetMs: number
  durationMs: number | null
  status: StepStatus
  error?: StepError
  /** One short line of the input and of the output, present even without the payload. */
  inputPreview?: string
  outputPreview?: string
  /** False when input, output, messages and attributes were not loaded; request the step to get them. */
  hasPayload: boolean
  input?: unknown
  output?: unknown
  messages?: Message[]
  toolDefinitions?: ToolDefinition[]
  model?: string
  /** The requested model, when another one responded. */
  requestedModel?: string
  provider?: string
  parameters?: Record<string, unknown>
  usage?: Usage
  usageScope?: UsageScope
  cost: number | null
  costSource?: 'reported' | 'computed'
  tool?: StepTool
  agent?: string
  effect?: Effect
  /** Absent outside re-runs. */
  source?: StepSource
  handoff?: { from?: string; to?: string }
  guardrail?: { name?: string; isTriggered?: boolean }
  retrieval?: { query?: string; documents?: RetrievedDocument[] }
  streaming?: Streaming
  responseId?: string
  finishReasons?: string[]
  attempt?: number
  logs?: LogEntry[]
  dialect: string
  attributes?: Attributes
  /** True when the step names a parent that never arrived. */
  isOrphan?: boolean
  /** True when part of the content was cut before it reached us. */
  isTruncated?: boolean
  /** True when nobody reported the step: the conversation shows that it took place. */
  isInferred?: boolean
  /** What later copies of the step said differently, oldest first. */
  changes?: StepChange[]
}

/** The name people know a step by: its tool's or agent's, if it has one. */
export function stepName(step: Step): string {
  if (step.kind === 'action') return step.tool?.name ?? step.name
  return step.kind === 'agent' ? (step.agent ?? step.name) : step.name
}

/** As `stepName`, with the model of a model call and both agents of a handoff. */
export function stepTitle(step: Step): string {
  if (step.kind === 'llm' || step.kind === 'embedding') return step.model ?? step.requestedModel ?? step.name
  const { from, to } = step.handoff ?? {}
  if (step.kind !== 'handoff' || to === undefined) return stepName(step)
  return from === undefined ? `→ ${to}` : `${from} → ${to}`
}

/** When a step ended, or its start while it runs, in milliseconds since the session began. */
export function endOffsetMs({ offsetMs, durationMs }: Pick<Step, 'offsetMs' | 'durationMs'>): number {
  return offsetMs + (durationMs ?? 0)
}
