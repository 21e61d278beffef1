import type { EndState } from './end-state.ts'
import type { ForkEdit, Lane } from './rerun.ts'
import type { Score } from './score.ts'
import type { Step } from './step.ts'
import type { Usage } from './usage.ts'

/** The test that a session was recorded in. */
export type SessionTest = {
  file?: string
  suite?: string
  name?: string
  attempt?: number
  variant?: string
  runId?: string
}

/** The entry of `unpricedModels` for a call without a model name. */
export const UNKNOWN_MODEL = 'unknown model'

/** One run of one agent, without its steps. */
export type SessionSummary = {
  /** 32 hex digits, the trace id on the wire. */
  id: string
  name: string
  /** The first line of the agent's input. */
  inputPreview?: string
  endState: EndState
  endStateReason?: string
  startedAt: string
  endedAt: string | null
  durationMs: number | null
  tags: string[]
  usage: Usage
  /** US dollars; null when nothing could be priced. */
  cost: number | null
  /** Models without a known price; their calls are not in `cost`. */
  unpricedModels: string[]
  /** Models of calls that reported no usage; they are not in `usage` and `cost`. Absent if there are none. */
  modelsWithoutUsage?: string[]
  /** Models of calls that reported tokens, but not those of their output: their cost is not complete. */
  modelsWithoutOutput?: string[]
  stepCount: number
  llmCallCount: number
  actionCount: number
  errorCount: number
  models: string[]
  agents: string[]
  /** The distinct names of the actions. */
  tools: string[]
  userId?: string
  threadId?: string
  environment?: string
  /** The version of the program: `service.version`. */
  version?: string
  test?: SessionTest
  vcs?: { branch?: string; commit?: string }
  metadata?: Record<string, unknown>
  /** The session that this one ran again. */
  parentId?: string
  /** The step of that session that a fork begins at. */
  parentStepId?: string
  lane?: Lane
  /** What a fork changed at that step; absent if nothing. */
  edit?: ForkEdit
  /** The scores that count, one of each name; absent if there are none. */
  scores?: Score[]
  url?: string
  demo: boolean
}

/** `scores` has all of them, newest first; absent if there are none. */
export type Session = { session: SessionSummary; steps: Step[]; scores?: Score[] }

/** The id as it is shown to people: `s_` and its first eight digits. */
export function shortSessionId(id: string): string {
  return `s_${id.slice(0, 8)}`
}

/** Parses a typed id prefix, with or without `s_`; undefined when it is not hexadecimal. */
export function parseSessionIdPrefix(text: string): string | undefined {
  const prefix = text.trim().toLowerCase().replace(/^s_/, '').replaceAll('-', '')
  return /^[0-9a-f]{4,32}$/.test(prefix) ? prefix : undefined
}
