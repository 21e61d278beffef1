import {
  logToDraft,
  NORMALIZER_VERSION,
  sessionOfLog,
  type Attributes,
  type LogRecord,
  type Pricer,
  type Span,
  type StepOutline,
} from '@playhead/model'
import { MAX_LIVE_BATCH, type LiveFeed } from '../live/live-feed.ts'
import type { SegmentLog } from '../log/segment-log.ts'
import { toLogRow, type LogRow } from '../store/logs-table.ts'
import { toStepRow, type StepRow } from '../store/steps-table.ts'
import { deriveStep } from './derive-step.ts'
import type { DialectFailures } from './dialect-failures.ts'
import { refuseManyCopies } from './origin-copies.ts'
import type { Rejection } from './rejection.ts'

/** Where what arrives goes. */
export type IngestTargets = {
  steps: SegmentLog<StepRow>
  logs: SegmentLog<LogRow>
  live: LiveFeed
  dialectFailures: DialectFailures
  /** Prices by the project's own overrides. */
  pricerOf: (project: string) => { pricer: Pricer; revision: number }
}

/**
 * The whole write journey of spans. It resolves when they are on disk. All of them are encoded before it returns, so
 * that nothing of a decoded request but its outlines is held while the disk is waited for.
 */
export function acceptSpans(project: string, spans: readonly Span[], targets: IngestTargets): Promise<void> {
  const resourceText = rememberText()
  refuseManyCopies(spans, resourceText)
  const { dialectFailures } = targets
  const context = { receivedAtMs: Date.now(), dialectFailures, ...targets.pricerOf(project) }
  const outlines: StepOutline[] = []
  const touched = new Set<string>()
  const { live } = targets
  return targets.steps
    .append(stepRows(project, spans, { ...context, resourceText, outlines, touched }), touched)
    .then(() => live.publishSteps(project, outlines))
}

type RowContext = {
  receivedAtMs: number
  dialectFailures: DialectFailures
  pricer: Pricer
  revision: number
  resourceText: (resource: Attributes) => string
  outlines: StepOutline[]
  touched: Set<string>
}

/** Row by row: a large batch never has all of its rows in memory beside what they are written to. */
function* stepRows(project: string, spans: readonly Span[], context: RowContext): Generator<StepRow, void> {
  const derivation = { normalizerVersion: NORMALIZER_VERSION, priceRevision: context.revision }
  const { receivedAtMs, pricer, resourceText, outlines, touched } = context
  for (const span of spans) {
    const draft = deriveStep(span, pricer, context.dialectFailures)
    if (outlines.length <= MAX_LIVE_BATCH) outlines.push(draft.outline)
    touched.add(`${project}\0${span.traceId}`)
    yield toStepRow(project, span, draft, { receivedAtMs, derivation, resource: resourceText(span.resource) })
  }
}

/** The same for log records; those that belong to no session are named, not kept. */
export function acceptLogs(
  project: string,
  records: readonly LogRecord[],
  targets: IngestTargets,
): { rejected: Rejection[]; durable: Promise<void> } {
  const resourceText = rememberText()
  refuseManyCopies(records, resourceText)
  const rejected: Rejection[] = []
  const touched = new Set<string>()
  const rows = logRows(project, records, { receivedAtMs: Date.now(), resourceText, rejected, touched })
  return { durable: targets.logs.append(rows, touched), rejected }
}

type LogContext = {
  receivedAtMs: number
  resourceText: (resource: Attributes) => string
  rejected: Rejection[]
  touched: Set<string>
}

function* logRows(
  project: string,
  records: readonly LogRecord[],
  { receivedAtMs, resourceText, rejected, touched }: LogContext,
): Generator<LogRow, void> {
  for (const record of records) {
    const sessionId = sessionOfLog(record)
    if (sessionId === undefined) {
      rejected.push({
        item: `log record "${record.name}"`,
        reason: 'it has no trace id, so it belongs to no session',
      })
      continue
    }
    const log = record.traceId === sessionId ? record : { ...record, traceId: sessionId }
    touched.add(`${project}\0${sessionId}`)
    yield toLogRow(project, log, logToDraft(log), { receivedAtMs, resource: resourceText(log.resource) })
  }
}

/** Spans of one batch share their resource object: it is written as text once. */
function rememberText(): (attributes: Attributes) => string {
  let last: Attributes | undefined
  let text = ''
  return (attributes) => {
    if (attributes !== last) {
      last = attributes
      text = JSON.stringify(attributes)
    }
    return text
  }
}
