import {
  logToDraft,
  NORMALIZER_VERSION,
  priceStep,
  sessionOfLog,
  spanToStep,
  type Attributes,
  type LogRecord,
  type Pricer,
  type Span,
  type StepOutline,
} from '@playhead/model'
import type { LiveFeed } from '../live/live-feed.ts'
import type { SegmentLog } from '../log/segment-log.ts'
import { logColumns, toLogRow, type LogRow } from '../store/logs-table.ts'
import { stepColumns, toStepRow, type StepRow } from '../store/steps-table.ts'
import type { Rejection } from './rejection.ts'

/** Where what arrives goes. */
export type IngestTargets = {
  steps: SegmentLog<typeof stepColumns>
  logs: SegmentLog<typeof logColumns>
  live: LiveFeed
  /** Prices by the project's own overrides. */
  pricerOf: (project: string) => { pricer: Pricer; revision: number }
}

/** The whole write journey of spans. It returns when they are on disk. */
export async function acceptSpans(
  project: string,
  spans: readonly Span[],
  targets: IngestTargets,
): Promise<void> {
  const receivedAtMs = Date.now()
  const { pricer, revision } = targets.pricerOf(project)
  const reading = { normalizerVersion: NORMALIZER_VERSION, priceRevision: revision }
  const resourceText = rememberText()
  const rows: StepRow[] = []
  const outlines: StepOutline[] = []
  const touched = new Set<string>()
  for (const span of spans) {
    const draft = spanToStep(span)
    priceStep(draft.outline, pricer)
    rows.push(
      toStepRow(project, span, draft, { receivedAtMs, reading, resource: resourceText(span.resource) }),
    )
    outlines.push(draft.outline)
    touched.add(`${project}\0${span.traceId}`)
  }
  await targets.steps.append(rows, touched)
  targets.live.publishSteps(project, outlines)
}

/** The same for log records; those that belong to no session are named, not kept. */
export async function acceptLogs(
  project: string,
  records: readonly LogRecord[],
  targets: IngestTargets,
): Promise<Rejection[]> {
  const receivedAtMs = Date.now()
  const resourceText = rememberText()
  const rows: LogRow[] = []
  const rejected: Rejection[] = []
  const touched = new Set<string>()
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
    rows.push(toLogRow(project, log, logToDraft(log), { receivedAtMs, resource: resourceText(log.resource) }))
    touched.add(`${project}\0${sessionId}`)
  }
  await targets.logs.append(rows, touched)
  return rejected
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
