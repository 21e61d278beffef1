import { settledEndState, summarizeSession, type ResolvedStep } from '@playhead/model'
import { hourBucket } from '../query/session-filter.ts'
import { errorFingerprint } from './error-fingerprint.ts'
import type { SessionRow } from './sessions-table.ts'

/** A session's row in `sessions`: its summary, and each call, action and error for statistics. */
export function toSessionRow(
  project: string,
  steps: readonly ResolvedStep[],
  context: { version: number; lastHeardAtMs: number },
): SessionRow {
  const { lastHeardAtMs } = context
  // Whether it runs is asked when the row is read; here it is summarised as if nothing more were to come.
  const summary = summarizeSession(steps, { nowMs: Infinity, lastHeardAtMs })
  const settled = settledEndState(steps)
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
  const owned = steps.flatMap((step) => (isFailed(step) && step.error?.isPropagated !== true ? [step] : []))
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
    call_failed: calls.map((step) => (isFailed(step) ? 1 : 0)),
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
    action_failed: actions.map((step) => (isFailed(step) ? 1 : 0)),
  }
}

function isFailed(step: ResolvedStep): boolean {
  return step.status === 'error' || step.status === 'soft-error'
}

function durationOf(step: ResolvedStep): number | null {
  return step.endedAtMs === null ? null : step.endedAtMs - step.startedAtMs
}

function nanoseconds(timeMs: number): bigint {
  return BigInt(Math.round(timeMs * 1000)) * 1000n
}
