import type { Columns, RowOf } from '../log/native-block.ts'
import {
  type EndState,
  type SessionSummary,
  type SessionTest,
  type Usage,
  hasFailed,
  LOST_AFTER_MS,
  ownsError,
  deriveEndState,
  summarizeSession,
  type ResolvedStep,
} from '@playhead/model'
import { createHash } from 'node:crypto'

/** The columns of `sessions` that we write. */
export const sessionColumns = {
  project: 'String',
  bucket: 'UInt32',
  session_id: 'String',
  version: 'UInt64',
  is_deleted: 'UInt8',
  started_at: "DateTime64(9, 'UTC')",
  ended_at: "Nullable(DateTime64(9, 'UTC'))",
  last_heard_at: "DateTime64(3, 'UTC')",
  is_open: 'UInt8',
  settled_state: 'String',
  end_state_reason: 'String',
  name: 'String',
  input_preview: 'String',
  tags: 'Array(String)',
  usage: 'Map(String, UInt64)',
  cost: 'Nullable(Float64)',
  unpriced_models: 'Array(String)',
  step_count: 'UInt32',
  llm_call_count: 'UInt32',
  action_count: 'UInt32',
  error_count: 'UInt32',
  models: 'Array(String)',
  agents: 'Array(String)',
  tools: 'Array(String)',
  user_id: 'String',
  thread_id: 'String',
  environment: 'String',
  test_file: 'String',
  test_suite: 'String',
  test_name: 'String',
  test_attempt: 'Nullable(UInt32)',
  test_variant: 'String',
  test_run_id: 'String',
  branch: 'String',
  commit: 'String',
  metadata: 'String',
  demo: 'UInt8',
  error_types: 'Array(String)',
  error_messages: 'Array(String)',
  error_prints: 'Array(String)',
  call_models: 'Array(String)',
  call_costs: 'Array(Nullable(Float64))',
  call_inputs: 'Array(Nullable(UInt64))',
  call_outputs: 'Array(Nullable(UInt64))',
  call_durations: 'Array(Nullable(Float32))',
  call_failed: 'Array(UInt8)',
  action_names: 'Array(String)',
  action_durations: 'Array(Nullable(Float32))',
  action_failed: 'Array(UInt8)',
} as const satisfies Columns

/** The state of a session at this moment; an open one is running while something was heard of it lately. */
export const STATE = `if(is_open AND last_heard_at > now64(3) - toIntervalMillisecond(${LOST_AFTER_MS}), 'running', toString(settled_state))`

export const DURATION_MS = `if(${STATE} = 'running' OR ended_at IS NULL, NULL, (toUnixTimestamp64Micro(assumeNotNull(ended_at)) - toUnixTimestamp64Micro(started_at)) / 1000)`

export type SessionRow = RowOf<typeof sessionColumns>

/** Hours counted backwards from the end of UInt32's range of seconds, so that newer sessions have smaller buckets. */
export function hourBucket(timeMs: number): number {
  const hour = Math.floor(timeMs / 3_600_000) * 3_600
  return 4_294_967_295 - Math.min(Math.max(hour, 0), 4_294_967_295)
}

/** What a list selects of a session, in the form `summaryFromRow` reads. */
export const summarySelect = `session_id, name, input_preview, ${STATE} AS state, end_state_reason,
  toUnixTimestamp64Micro(started_at) AS started_us, toUnixTimestamp64Micro(ended_at) AS ended_us, ${DURATION_MS} AS duration_ms,
  tags, usage, cost, unpriced_models, step_count, llm_call_count, action_count, error_count, models, agents, tools,
  user_id, thread_id, environment, test_file, test_suite, test_name, test_attempt, test_variant, test_run_id, branch, commit,
  metadata, demo`

export type SummaryRow = {
  session_id: string
  name: string
  input_preview: string
  state: EndState
  end_state_reason: string
  started_us: number
  ended_us: number | null
  duration_ms: number | null
  tags: string[]
  usage: Usage
  cost: number | null
  unpriced_models: string[]
  step_count: number
  llm_call_count: number
  action_count: number
  error_count: number
  models: string[]
  agents: string[]
  tools: string[]
  user_id: string
  thread_id: string
  environment: string
  test_file: string
  test_suite: string
  test_name: string
  test_attempt: number | null
  test_variant: string
  test_run_id: string
  branch: string
  commit: string
  metadata: string
  demo: number
}

export function summaryFromRow(row: SummaryRow): SessionSummary {
  const test = testFromRow(row)
  const isOpen = row.state === 'running' || row.ended_us === null
  return {
    id: row.session_id,
    name: row.name,
    endState: row.state,
    startedAt: new Date(row.started_us / 1000).toISOString(),
    endedAt: isOpen ? null : new Date(row.ended_us! / 1000).toISOString(),
    durationMs: row.duration_ms,
    tags: row.tags,
    usage: row.usage,
    cost: row.cost,
    unpricedModels: row.unpriced_models,
    stepCount: row.step_count,
    llmCallCount: row.llm_call_count,
    actionCount: row.action_count,
    errorCount: row.error_count,
    models: row.models,
    agents: row.agents,
    tools: row.tools,
    demo: row.demo === 1,
    ...(row.input_preview !== '' && { inputPreview: row.input_preview }),
    ...(row.end_state_reason !== '' && row.state !== 'running' && { endStateReason: row.end_state_reason }),
    ...(row.user_id !== '' && { userId: row.user_id }),
    ...(row.thread_id !== '' && { threadId: row.thread_id }),
    ...(row.environment !== '' && { environment: row.environment }),
    ...(test !== undefined && { test }),
    ...((row.branch !== '' || row.commit !== '') && {
      vcs: {
        ...(row.branch !== '' && { branch: row.branch }),
        ...(row.commit !== '' && { commit: row.commit }),
      },
    }),
    ...(row.metadata !== '' && { metadata: JSON.parse(row.metadata) as Record<string, unknown> }),
  }
}

function testFromRow(row: SummaryRow): SessionTest | undefined {
  if (row.test_name === '' && row.test_file === '') return undefined
  return {
    ...(row.test_file !== '' && { file: row.test_file }),
    ...(row.test_suite !== '' && { suite: row.test_suite }),
    ...(row.test_name !== '' && { name: row.test_name }),
    ...(row.test_attempt !== null && { attempt: row.test_attempt }),
    ...(row.test_variant !== '' && { variant: row.test_variant }),
    ...(row.test_run_id !== '' && { runId: row.test_run_id }),
  }
}

/** A session's row in `sessions`: its summary, and each call, action and error for statistics. */
export function toSessionRow(
  project: string,
  steps: readonly ResolvedStep[],
  context: { version: number; lastHeardAtMs: number },
): SessionRow {
  const { lastHeardAtMs } = context
  // Whether it runs is asked when the row is read; here it is summarised as if nothing more were to come.
  const summary = summarizeSession(steps, { nowMs: Infinity, lastHeardAtMs })
  const settled = deriveEndState(steps)
  const startedAtMs = steps[0]?.startedAtMs ?? lastHeardAtMs
  return {
    project,
    bucket: hourBucket(startedAtMs),
    session_id: summary.id,
    version: context.version,
    is_deleted: 0,
    started_at: nanoseconds(startedAtMs),
    ended_at: nanoseconds(startedAtMs + (summary.durationMs ?? 0)),
    last_heard_at: BigInt(Math.round(lastHeardAtMs)),
    is_open: settled.isOpen ? 1 : 0,
    settled_state: settled.whenSilent,
    end_state_reason: summary.endStateReason ?? '',
    name: summary.name,
    input_preview: summary.inputPreview ?? '',
    tags: summary.tags,
    usage: summary.usage,
    cost: summary.cost,
    unpriced_models: summary.unpricedModels,
    step_count: summary.stepCount,
    llm_call_count: summary.llmCallCount,
    action_count: summary.actionCount,
    error_count: summary.errorCount,
    models: summary.models,
    agents: summary.agents,
    tools: summary.tools,
    user_id: summary.userId ?? '',
    thread_id: summary.threadId ?? '',
    environment: summary.environment ?? '',
    test_file: summary.test?.file ?? '',
    test_suite: summary.test?.suite ?? '',
    test_name: summary.test?.name ?? '',
    test_attempt: summary.test?.attempt ?? null,
    test_variant: summary.test?.variant ?? '',
    test_run_id: summary.test?.runId ?? '',
    branch: summary.vcs?.branch ?? '',
    commit: summary.vcs?.commit ?? '',
    metadata: summary.metadata === undefined ? '' : JSON.stringify(summary.metadata),
    demo: summary.demo ? 1 : 0,
    ...errorColumns(steps),
    ...callColumns(steps),
    ...actionColumns(steps),
  }
}

/** The row that takes a session out of a bucket it is no longer in. */
export function toTombstone(row: SessionRow, bucket: number): SessionRow {
  return { ...row, bucket, is_deleted: 1 }
}

function errorColumns(steps: readonly ResolvedStep[]) {
  const owned = steps.filter(ownsError)
  return {
    error_types: owned.map((step) => step.error?.type ?? ''),
    error_messages: owned.map((step) => (step.error?.message ?? '').slice(0, 300)),
    error_prints: owned.map((step) =>
      errorFingerprint(step.error?.type ?? '', step.error?.message ?? '', step.toolName ?? step.name),
    ),
  }
}

function callColumns(steps: readonly ResolvedStep[]) {
  const calls = steps.filter((step) => isModelCall(step))
  const counted = (step: ResolvedStep) => step.usageScope === 'call'
  return {
    call_models: calls.map((step) => step.model ?? step.requestedModel ?? ''),
    call_costs: calls.map((step) => (counted(step) ? (step.cost ?? null) : null)),
    call_inputs: calls.map((step) => (counted(step) ? (step.usage?.input ?? null) : null)),
    call_outputs: calls.map((step) => (counted(step) ? (step.usage?.output ?? null) : null)),
    call_durations: calls.map(durationOf),
    call_failed: calls.map((step) => (hasFailed(step) ? 1 : 0)),
  }
}

/** A call to a model, once: wrappers of a call that is reported again below it, and copies of it, are left out. */
function isModelCall(step: ResolvedStep): boolean {
  if (step.usageScope === 'duplicate' || step.usageScope === 'rollup' || step.isRepeatedBelow === true)
    return false
  return step.kind === 'llm' || step.kind === 'embedding' || step.usageScope === 'call'
}

function actionColumns(steps: readonly ResolvedStep[]) {
  const actions = steps.filter((step) => step.kind === 'action')
  return {
    action_names: actions.map((step) => step.toolName ?? step.name),
    action_durations: actions.map(durationOf),
    action_failed: actions.map((step) => (hasFailed(step) ? 1 : 0)),
  }
}

function durationOf(step: ResolvedStep): number | null {
  return step.endedAtMs === null ? null : step.endedAtMs - step.startedAtMs
}

function nanoseconds(timeMs: number): bigint {
  return BigInt(Math.round(timeMs * 1000)) * 1000n
}

/**
 * The same error in other words: what differs from run to run (numbers, ids, quoted values, times) is taken out of the
 * message, so that one bug is one group.
 */
function errorFingerprint(type: string, message: string, where: string): string {
  const pattern = message
    .slice(0, 500)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '#')
    .replaceAll(/(["'`])(?:(?!\1).){1,200}\1/g, '#')
    .replaceAll(/\b(?=\w*\d)[\w-]{6,}\b/g, '#')
    .replaceAll(/\d+/g, '#')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return createHash('sha1').update(`${type}\0${pattern}\0${where}`).digest('hex').slice(0, 16)
}
