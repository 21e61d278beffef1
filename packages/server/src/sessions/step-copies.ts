import type { Span, SpanCopy, StepDraft } from '@playhead/model'
import type { Store } from '../store/connect.ts'
import { IS_FINISHED, payloadSize, spanSelect, type SpanRow } from '../store/steps-table.ts'
import {
  readOutlinesAndCopies,
  toStoredSpans,
  type OutlinesAndCopies,
  type RowFacts,
  type StepKey,
  type StoredOutline,
} from './stored-steps.ts'

/** Derives a step from the copies of its span, first copy first. */
export type DeriveCopies = (project: string, copies: readonly SpanCopy[]) => { span: Span; draft: StepDraft }

export type CopiesOptions = { store: Store; derive: DeriveCopies }

/** An outline, and whether it was joined from several copies of its span. */
export type JoinedOutline = StoredOutline & { isJoined?: true }

const MAX_COPIES = 16
/** Copies are read in batches of about this size. */
const BATCH_STEPS = 200
const BATCH_BYTES = 8 * 1024 * 1024

/**
 * Reads the outlines of all steps of some sessions. The few steps that arrived several times after they had ended are
 * derived from all their copies; only for these, payloads are read.
 */
export async function readJoinedOutlines(
  options: CopiesOptions,
  project: string,
  ids: readonly string[],
  /** If they were read already. */
  known?: OutlinesAndCopies,
): Promise<JoinedOutline[]> {
  const { outlines: rows, copied } = known ?? (await readOutlinesAndCopies(options.store, project, ids))
  if (copied.length === 0) return rows
  const byKey = new Map<string, JoinedOutline>(
    rows.map((row) => [keyOf(row.outline.sessionId, row.outline.id), row]),
  )
  const isCopied = ({ session_id, step_id }: StepKey) => byKey.get(keyOf(session_id, step_id))
  for (const batch of batches(copied, (key) => payloadSize(isCopied(key)?.version ?? 0))) {
    for (const { span, draft } of await joinCopies(options, project, batch)) {
      const row = byKey.get(keyOf(span.traceId, span.spanId))
      if (row === undefined) continue
      const { startedAtMs, endedAtMs } = row.outline
      row.outline = { ...draft.outline, startedAtMs, endedAtMs }
      row.isJoined = true
    }
  }
  return rows
}

/** Joins the copies of these steps. Steps whose copies are all the same are left out. */
export async function joinCopies(
  { store, derive }: CopiesOptions,
  project: string,
  steps: readonly StepKey[],
): Promise<{ span: Span; draft: StepDraft }[]> {
  const copies = Map.groupBy(await readCopies(store, project, steps), ({ span }) =>
    keyOf(span.traceId, span.spanId),
  )
  return [...copies.values()].filter((group) => group.length > 1).map((group) => derive(project, group))
}

/** Copies that are equal count once: a sender that got no acknowledgement sends again. */
const CONTENT_HASH = `cityHash64(started_at, assumeNotNull(ended_at), parent_id, span_name, span_kind, status_code,
  status_message, attributes, events, links, resource, least(arrival, 0))`

async function readCopies(
  { client, badRows }: Store,
  project: string,
  steps: readonly StepKey[],
): Promise<SpanCopy[]> {
  const result = await client.query({
    query: `SELECT * FROM (
        SELECT toUnixTimestamp64Milli(received_at) AS received_ms, version, arrival, ${spanSelect} FROM steps
        WHERE project = {project:String} AND session_id IN {sessions:Array(String)}
          AND step_id IN {steps:Array(String)} AND ${IS_FINISHED}
        ORDER BY session_id, step_id, arrival, version DESC LIMIT 1 BY session_id, step_id, ${CONTENT_HASH})
      ORDER BY session_id, step_id, arrival LIMIT ${MAX_COPIES} BY session_id, step_id`,
    query_params: {
      project,
      sessions: [...new Set(steps.map(({ session_id }) => session_id))],
      steps: steps.map(({ step_id }) => step_id),
    },
    format: 'JSONEachRow',
  })
  return toStoredSpans(badRows, await result.json<SpanRow & RowFacts>())
    .toSorted((left, right) => Math.abs(left.arrival) - Math.abs(right.arrival))
    .map(({ span, receivedMs, arrival }) => ({ span, arrivedAtMs: receivedMs, isRewrite: arrival < 0 }))
}

function* batches(steps: readonly StepKey[], sizeOf: (step: StepKey) => number): Generator<StepKey[], void> {
  let batch: StepKey[] = []
  let bytes = 0
  for (const step of steps) {
    if (batch.length >= BATCH_STEPS || bytes >= BATCH_BYTES) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(step)
    bytes += sizeOf(step)
  }
  yield batch
}

function keyOf(sessionId: string, stepId: string): string {
  return `${sessionId} ${stepId}`
}
