import { createHash } from 'node:crypto'
import {
  deriveEndState,
  hasFailed,
  LOST_AFTER_MS,
  maskDetails,
  ownsError,
  summarizeSession,
  type DerivedEndState,
  type EndState,
  type ResolvedStep,
  type StepKind,
  type StepOutline,
  scoreNumber,
  type Score,
  type SessionSummary,
  type SummaryContext,
} from '@playhead/model'
import type { Columns } from '../log/native-block.ts'
import type { BadRows } from './bad-rows.ts'
import { wellFormedJson } from './packed-outline.ts'
import { parseList, parseObject, storedFields, type FieldMap, type JsonRow } from './stored-fields.ts'

/** What lists show of a session, and where its row is. */
export type ListedSession = {
  project: string
  bucket: number
  version: number
  isDeleted: boolean
  startedAtMs: number
  lastHeardAtMs: number
  endState: DerivedEndState
  summary: SessionSummary
}

/** A session as a row of `sessions`: its summary, and each call, action and error for statistics. */
export type SessionRow = ListedSession & {
  errors: ResolvedStep[]
  calls: ResolvedStep[]
  actions: ResolvedStep[]
  changedSteps: string[]
}

export function toSessionRow(
  project: string,
  steps: readonly ResolvedStep[],
  {
    version,
    stored,
    ...context
  }: Omit<SummaryContext, 'nowMs'> & {
    version: number
    /** The outlines that have a row in `steps`. */
    stored: readonly StepOutline[]
  },
): SessionRow {
  const { lastHeardAtMs } = context
  const startedAtMs = steps[0]?.startedAtMs ?? lastHeardAtMs
  return {
    project,
    bucket: hourBucket(startedAtMs),
    version,
    isDeleted: false,
    startedAtMs,
    lastHeardAtMs,
    endState: deriveEndState(steps),
    // Queries decide whether it is running. The row is written as if nothing more were to come.
    summary: summarizeSession(steps, { nowMs: Infinity, ...context }),
    errors: steps.filter(ownsError),
    calls: steps.filter(isModelCall),
    actions: steps.filter((step) => step.kind === 'action'),
    changedSteps: changedSteps(steps, stored),
  }
}

const graphKinds: ReadonlySet<StepKind> = new Set([
  'action',
  'retrieval',
  'handoff',
  'guardrail',
  'llm',
  'agent',
] as const)

/** What the decision graph has to show beside or instead of the rows of `steps`. */
function changedSteps(steps: readonly ResolvedStep[], stored: readonly StepOutline[]): string[] {
  const rows = new Map(stored.map((outline) => [outline.id, outline]))
  const changed: string[] = []
  for (const step of steps) {
    const row = rows.get(step.id)
    rows.delete(step.id)
    const isAsStored = row?.kind === step.kind && row.toolName === step.toolName
    if (isAsStored || !graphKinds.has(step.kind)) {
      if (row !== undefined && row.kind !== step.kind && graphKinds.has(row.kind))
        changed.push(JSON.stringify({ id: step.id }))
      continue
    }
    changed.push(
      JSON.stringify({
        id: step.id,
        parentId: step.parentId ?? '',
        kind: step.kind,
        label: labelOf(step),
        effect: step.effect,
        startedUs: Math.round(step.startedAtMs * 1000),
        durationMs: durationOf(step),
        isFailed: hasFailed(step),
      }),
    )
  }
  for (const { id, kind } of rows.values()) if (graphKinds.has(kind)) changed.push(JSON.stringify({ id }))
  return changed
}

/** As in decision-paths.sql. */
function labelOf({ kind, toolName, agent, model, name }: ResolvedStep): string {
  const label = kind === 'action' ? toolName : kind === 'agent' ? agent : kind === 'llm' ? model : undefined
  return label ?? name
}

/** The row that removes a session from a bucket it is no longer in, or in which it is part of another session now. */
export function toTombstone(row: SessionRow, id: string, bucket: number): SessionRow {
  return { ...row, summary: { ...row.summary, id }, bucket, isDeleted: true }
}

/** How each field of a summary is stored; `row`: computed when the row is read. */
const summaryFields: FieldMap<SessionSummary, 'row'> = {
  id: 'row',
  endState: 'row',
  startedAt: 'row',
  endedAt: 'row',
  durationMs: 'row',
  url: 'row',
  name: { column: 'name', type: 'String' },
  inputPreview: { column: 'input_preview', type: 'String', absent: '' },
  endStateReason: {
    columns: { end_state_reason: { type: 'String', value: (summary) => summary.endStateReason ?? '' } },
    read(row, summary) {
      if (row.end_state_reason !== '' && summary.endState !== 'running')
        summary.endStateReason = row.end_state_reason as string
    },
  },
  tags: { column: 'tags', type: 'Array(String)' },
  usage: { column: 'usage', type: 'Map(String, UInt64)' },
  cost: { column: 'cost', type: 'Nullable(Float64)' },
  unpricedModels: { column: 'unpriced_models', type: 'Array(String)' },
  modelsWithoutUsage: { column: 'models_without_usage', type: 'Array(String)', absent: [] },
  modelsWithoutOutput: { column: 'models_without_output', type: 'Array(String)', absent: [] },
  stepCount: { column: 'step_count', type: 'UInt32' },
  llmCallCount: { column: 'llm_call_count', type: 'UInt32' },
  actionCount: { column: 'action_count', type: 'UInt32' },
  errorCount: { column: 'error_count', type: 'UInt32' },
  models: { column: 'models', type: 'Array(String)' },
  agents: { column: 'agents', type: 'Array(String)' },
  tools: { column: 'tools', type: 'Array(String)' },
  userId: { column: 'user_id', type: 'String', absent: '' },
  threadId: { column: 'thread_id', type: 'String', absent: '' },
  environment: { column: 'environment', type: 'String', absent: '' },
  version: { column: 'service_version', type: 'String', absent: '' },
  test: {
    columns: {
      test_file: { type: 'String', value: ({ test }) => test?.file ?? '' },
      test_suite: { type: 'String', value: ({ test }) => test?.suite ?? '' },
      test_name: { type: 'String', value: ({ test }) => test?.name ?? '' },
      test_attempt: { type: 'Nullable(UInt32)', value: ({ test }) => test?.attempt ?? null },
      test_variant: { type: 'String', value: ({ test }) => test?.variant ?? '' },
      test_run_id: { type: 'String', value: ({ test }) => test?.runId ?? '' },
    },
    read(row, summary) {
      if (row.test_name === '' && row.test_file === '') return
      summary.test = withoutEmpty({
        file: row.test_file,
        suite: row.test_suite,
        name: row.test_name,
        attempt: row.test_attempt,
        variant: row.test_variant,
        runId: row.test_run_id,
      })
    },
  },
  vcs: {
    columns: {
      branch: { type: 'String', value: ({ vcs }) => vcs?.branch ?? '' },
      commit: { type: 'String', value: ({ vcs }) => vcs?.commit ?? '' },
    },
    read(row, summary) {
      const { branch, commit } = row
      if (branch !== '' || commit !== '') summary.vcs = withoutEmpty({ branch, commit })
    },
  },
  metadata: {
    columns: {
      metadata: {
        type: 'String',
        value: ({ metadata }) => (metadata === undefined ? '' : JSON.stringify(metadata)),
      },
    },
    read({ metadata }, summary) {
      if (metadata !== '') summary.metadata = parseObject(metadata as string)
    },
  },
  parentId: { column: 'parent_id', type: 'String', absent: '' },
  parentStepId: { column: 'parent_step_id', type: 'String', absent: '' },
  lane: { column: 'lane', type: 'String', absent: '' },
  edit: {
    columns: {
      edit: { type: 'String', value: ({ edit }) => (edit === undefined ? '' : JSON.stringify(edit)) },
    },
    read({ edit }, summary) {
      if (edit !== '') summary.edit = parseObject(edit as string)
    },
  },
  scores: {
    columns: {
      scores: {
        type: 'String',
        value: ({ scores }) => (scores === undefined ? '' : JSON.stringify(scores)),
      },
    },
    read({ scores }, summary) {
      if (scores !== '') summary.scores = parseList(scores as string) as Score[]
    },
  },
  demo: {
    columns: { demo: { type: 'UInt8', value: ({ demo }) => (demo ? 1 : 0) } },
    read(row, summary) {
      summary.demo = row.demo === 1
    },
  },
}

const summaryColumns = storedFields(summaryFields, ({ summary }: SessionRow) => summary)

function withoutEmpty(values: Record<string, unknown>): Record<string, never> {
  const filled = Object.entries(values).filter(([, value]) => value !== '' && value !== null)
  return Object.fromEntries(filled) as Record<string, never>
}

export const sessionColumns: Columns<SessionRow> = {
  project: { type: 'String', value: (row) => row.project },
  bucket: { type: 'UInt32', value: (row) => row.bucket },
  session_id: { type: 'String', value: ({ summary }) => summary.id },
  version: { type: 'UInt64', value: (row) => row.version },
  is_deleted: { type: 'UInt8', value: (row) => (row.isDeleted ? 1 : 0) },
  started_at: { type: "DateTime64(9, 'UTC')", value: (row) => nanoseconds(row.startedAtMs) },
  ended_at: {
    type: "Nullable(DateTime64(9, 'UTC'))",
    value: ({ startedAtMs, summary }) => nanoseconds(startedAtMs + (summary.durationMs ?? 0)),
  },
  last_heard_at: { type: "DateTime64(3, 'UTC')", value: (row) => BigInt(Math.round(row.lastHeardAtMs)) },
  is_open: { type: 'UInt8', value: ({ endState }) => (endState.isOpen ? 1 : 0) },
  settled_state: { type: 'String', value: ({ endState }) => endState.whenSilent },
  ...summaryColumns.columns,
  score_names: { type: 'Array(String)', value: ({ summary }) => scoresOf(summary).map(({ name }) => name) },
  score_numbers: {
    type: 'Array(Nullable(Float64))',
    value: ({ summary }) => scoresOf(summary).map(({ value }) => scoreNumber(value)),
  },
  score_words: {
    type: 'Array(String)',
    value: ({ summary }) => scoresOf(summary).map(({ value }) => (typeof value === 'string' ? value : '')),
  },
  error_types: { type: 'Array(String)', value: ({ errors }) => errors.map(({ error }) => error?.type ?? '') },
  error_messages: {
    type: 'Array(String)',
    value: ({ errors }) => errors.map(({ error }) => (error?.message ?? '').slice(0, 300)),
  },
  error_prints: { type: 'Array(String)', value: ({ errors }) => errors.map(errorFingerprint) },
  call_models: {
    type: 'Array(String)',
    value: ({ calls }) => calls.map(({ model, requestedModel }) => model ?? requestedModel ?? ''),
  },
  call_costs: {
    type: 'Array(Nullable(Float64))',
    value: ({ calls }) => calls.map((step) => (isCounted(step) ? (step.cost ?? null) : null)),
  },
  call_inputs: {
    type: 'Array(Nullable(UInt64))',
    value: ({ calls }) => calls.map((step) => (isCounted(step) ? (step.usage?.input ?? null) : null)),
  },
  call_outputs: {
    type: 'Array(Nullable(UInt64))',
    value: ({ calls }) => calls.map((step) => (isCounted(step) ? (step.usage?.output ?? null) : null)),
  },
  call_durations: { type: 'Array(Nullable(Float32))', value: ({ calls }) => calls.map(durationOf) },
  call_failed: { type: 'Array(UInt8)', value: ({ calls }) => calls.map((step) => (hasFailed(step) ? 1 : 0)) },
  action_names: {
    type: 'Array(String)',
    value: ({ actions }) => actions.map(({ toolName, name }) => toolName ?? name),
  },
  action_durations: { type: 'Array(Nullable(Float32))', value: ({ actions }) => actions.map(durationOf) },
  action_failed: {
    type: 'Array(UInt8)',
    value: ({ actions }) => actions.map((step) => (hasFailed(step) ? 1 : 0)),
  },
  changed_steps: { type: 'Array(String)', value: (row) => row.changedSteps },
  card: { type: 'String', value: ({ summary, isDeleted }) => (isDeleted ? '' : toCard(summary)) },
}

/** What a list shows of a session, in one column: that is read much faster than thirty. */
export function toCard({
  id,
  endState,
  startedAt,
  endedAt,
  durationMs,
  url,
  ...shown
}: SessionSummary): string {
  return wellFormedJson(shown)
}

function scoresOf({ scores = [] }: SessionSummary): readonly Score[] {
  return scores
}

const IS_RUNNING = `(is_open AND abs({nowMs:Int64} - toUnixTimestamp64Milli(last_heard_at)) <= ${LOST_AFTER_MS})`

/**
 * The state of a session at {nowMs}: an open session is running until nothing has arrived for a while. One that was heard
 * in the future is not: the clock was ahead then.
 */
export const STATE = `if(${IS_RUNNING}, 'running', toString(settled_state))`

export const DURATION_MS = `if(${IS_RUNNING} OR ended_at IS NULL, NULL, (toUnixTimestamp64Micro(assumeNotNull(ended_at)) - toUnixTimestamp64Micro(started_at)) / 1000)`

const summaryBase = [
  'session_id',
  `${STATE} AS state`,
  'toUnixTimestamp64Micro(started_at) AS started_us, toUnixTimestamp64Micro(ended_at) AS ended_us',
  `${DURATION_MS} AS duration_ms`,
].join(', ')

/** What `summariesFromRows` needs of any row. */
export const summarySelect = [summaryBase, ...Object.keys(summaryColumns.columns)].join(', ')

/** What it needs of rows that have a card. Rows of earlier versions have none. */
export const cardSelect = `${summaryBase}, card`

export type SummaryRow = JsonRow & {
  session_id: string
  state: EndState
  started_us: number
  ended_us: number | null
  duration_ms: number | null
}

function summaryFromRow(row: SummaryRow): SessionSummary {
  const isOpen = row.state === 'running' || row.ended_us === null
  const summary = {
    id: row.session_id,
    endState: row.state,
    startedAt: new Date(row.started_us / 1000).toISOString(),
    endedAt: isOpen ? null : new Date(row.ended_us! / 1000).toISOString(),
    durationMs: row.duration_ms,
  } as SessionSummary
  if (typeof row.card === 'string') Object.assign(summary, parseObject(row.card))
  else summaryColumns.read(row, summary)
  if (summary.endState === 'running') delete summary.endStateReason
  return summary
}

/** Reads a list of sessions; leaves out those that can't be read. */
export function summariesFromRows(badRows: BadRows, rows: readonly SummaryRow[]): SessionSummary[] {
  return badRows.readEach('sessions', rows, { idOf: ({ session_id }) => session_id, read: summaryFromRow })
}

/** Hours counted backwards from the end of UInt32's range of seconds, so that newer sessions have smaller buckets. */
export function hourBucket(timeMs: number): number {
  const hour = Math.floor(timeMs / 3_600_000) * 3_600
  return 4_294_967_295 - Math.min(Math.max(hour, 0), 4_294_967_295)
}

/** A model call, counted once: not a wrapper whose call is reported again below it, and not a copy. */
function isModelCall(step: ResolvedStep): boolean {
  if (step.usageScope === 'duplicate' || step.usageScope === 'rollup' || step.isRepeatedBelow === true)
    return false
  return step.kind === 'llm' || step.kind === 'embedding' || isCounted(step)
}

function isCounted(step: ResolvedStep): boolean {
  return step.usageScope === 'call'
}

function durationOf(step: ResolvedStep): number | null {
  return step.endedAtMs === null ? null : step.endedAtMs - step.startedAtMs
}

function nanoseconds(timeMs: number): bigint {
  return BigInt(Math.round(timeMs * 1000)) * 1000n
}

/** Groups errors that differ only in details, so that one bug is one group. */
function errorFingerprint({ error, toolName, name }: ResolvedStep): string {
  const pattern = maskDetails(error?.message ?? '')
  return createHash('sha1')
    .update(`${error?.type ?? ''}\0${pattern}\0${toolName ?? name}`)
    .digest('hex')
    .slice(0, 16)
}
