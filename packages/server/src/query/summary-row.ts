import type { EndState, SessionSummary, SessionTest, Usage } from '@playhead/model'
import { DURATION_MS, STATE } from './session-filter.ts'

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
