import { setTimeout as sleep } from 'node:timers/promises'
import {
  logToDraft,
  NORMALIZER_VERSION,
  sessionOfLog,
  trimOutlines,
  type Attributes,
  type LogRecord,
  type Pricer,
  type Scope,
  type Span,
  type StepOutline,
} from '@playhead/model'
import type { DailyUsage } from '../access/daily-usage.ts'
import { KnownError } from '../errors/known-error.ts'
import { MAX_LIVE_BATCH, type LiveFeed } from '../live/live-feed.ts'
import type { SegmentLog } from '../log/segment-log.ts'
import { toFreshRow, type FreshRow, type FreshSessions } from '../sessions/fresh-sessions.ts'
import { toLogRow, type LogRow } from '../store/logs-table.ts'
import { arrivalOf, toStepRow, type StepRow } from '../store/steps-table.ts'
import type { Counters } from './counters.ts'
import { deriveOutline } from './derive-step.ts'
import type { DialectFailures } from './dialect-failures.ts'
import { MAX_ENVELOPE_COPIES_BYTES } from './limits.ts'
import type { Batch, Rejection } from './rejection.ts'

/** Where spans and log records go, whichever protocol they arrive by. */
export type IngestPipeline = {
  steps: SegmentLog<StepRow>
  logs: SegmentLog<LogRow>
  live: LiveFeed
  fresh: FreshSessions
  /** The project's prices. */
  pricerOf: (project: string) => { pricer: Pricer; revision: number }
  counters: Counters
  dialectFailures: DialectFailures
  /** Counts what each project sends. */
  usage: DailyUsage
  /** Numbers the copies of a finished span in the order of their arrival. */
  nextArrival: () => number
}

/**
 * Ingests a batch of spans. Resolves with the rejected ones, once the others are on disk. A rewrite replaces steps that
 * have ended; otherwise a later copy can only add to them.
 */
export async function ingestSpans(
  pipeline: IngestPipeline,
  project: string,
  decode: () => Batch<Span>,
  { isRewrite = false, bytes = 0 } = {},
): Promise<Rejection[]> {
  const { counters, steps, usage } = pipeline
  const { stored, rejected } = await appendBatch(steps, () =>
    appendSpans(pipeline, project, decode(), isRewrite),
  )
  usage.note(project, { spans: stored, bytes })
  counters.spansStored += stored
  counters.spansRejected += rejected.length
  return rejected
}

/** Ingests a batch of log records in the same way. A record that belongs to no session is rejected. */
export async function ingestLogs(
  pipeline: IngestPipeline,
  project: string,
  decode: () => Batch<LogRecord>,
  { bytes = 0 } = {},
): Promise<Rejection[]> {
  const { counters, logs, usage } = pipeline
  const { stored, rejected } = await appendBatch(logs, () => appendLogs(pipeline, project, decode()))
  usage.note(project, { spans: stored, bytes })
  counters.logsStored += stored
  counters.logsRejected += rejected.length
  return rejected
}

type Appended = { stored: number; rejected: Rejection[]; durable: Promise<void> }

/**
 * Waits for the store to keep up and for room in the log, decodes and appends, then waits for the disk. `append` encodes every row before it returns:
 * no decoded item stays in memory while the disk is slow.
 */
async function appendBatch(
  log: { readonly isCrowded: boolean; readonly senderDelayMs: number; room: () => Promise<void> },
  append: () => Appended,
): Promise<Appended> {
  const { senderDelayMs } = log
  if (senderDelayMs >= 1) await sleep(senderDelayMs)
  while (log.isCrowded) await log.room()
  const appended = append()
  await appended.durable
  return appended
}

function appendSpans(
  pipeline: IngestPipeline,
  project: string,
  { items, rejected }: Batch<Span>,
  isRewrite: boolean,
): Appended {
  const resourceText = cacheText()
  limitEnvelopeCopies(items, resourceText)
  const { live, fresh, dialectFailures, nextArrival } = pipeline
  const context = {
    receivedAtMs: Date.now(),
    isRewrite,
    nextArrival,
    dialectFailures,
    ...pipeline.pricerOf(project),
  }
  const outlines = new LiveOutlines(live.isKept())
  const freshRows: FreshRow[] = []
  const touched = new Set<string>()
  const rows = stepRows(project, items, { ...context, resourceText, outlines, freshRows, touched })
  const written = pipeline.steps.append(rows, touched)
  const tooMany = items.length > MAX_LIVE_BATCH ? new Set(items.map(({ traceId }) => traceId)) : undefined
  const durable = written.then(() => {
    // Nothing here refers to the spans: they would all be kept in memory, and moved by each collection, until the disk is done.
    live.publishSteps(project, outlines.list)
    if (tooMany === undefined) fresh.note(project, freshRows)
    else fresh.forget(project, tooMany)
  })
  return { stored: items.length, rejected, durable }
}

/** The outlines of a batch for live viewers. While nobody watches, only those that may begin a session. */
class LiveOutlines {
  readonly list: StepOutline[] = []
  readonly #isKept: boolean

  constructor(isKept: boolean) {
    this.#isKept = isKept
  }

  add(outline: StepOutline): void {
    if (this.list.length > MAX_LIVE_BATCH) return
    const last = this.list.at(-1)
    const isLater = outline.sessionId === last?.sessionId && outline.startedAtMs >= last.startedAtMs
    if (this.#isKept || !isLater) this.list.push(outline)
  }
}

type StepContext = {
  receivedAtMs: number
  isRewrite: boolean
  nextArrival: () => number
  dialectFailures: DialectFailures
  pricer: Pricer
  revision: number
  resourceText: (resource: Attributes) => string
  outlines: LiveOutlines
  freshRows: FreshRow[]
  touched: Set<string>
}

/** Spans that are derived together. A tool's span mostly arrives within so many of the call that asked for it. */
const WINDOW_SPANS = 512

/** A generator, so that the rows of a large batch are never all in memory at once. */
function* stepRows(project: string, spans: readonly Span[], context: StepContext): Generator<StepRow, void> {
  const derivation = { normalizerVersion: NORMALIZER_VERSION, priceRevision: context.revision }
  const { receivedAtMs, pricer, dialectFailures, resourceText, outlines, freshRows, touched } = context
  const { isRewrite, nextArrival } = context
  let lastTrace = ''
  for (let start = 0; start < spans.length; start += WINDOW_SPANS) {
    const window = spans.slice(start, start + WINDOW_SPANS)
    const derived = window.map((span) => deriveOutline(span, pricer, dialectFailures))
    trimOutlines(derived)
    for (const [index, span] of window.entries()) {
      const outline = derived[index]!
      outlines.add(outline)
      if (span.traceId !== lastTrace) touched.add(`${project}\0${span.traceId}`)
      lastTrace = span.traceId
      const arrival = arrivalOf(span, nextArrival(), isRewrite)
      const resource = resourceText(span.resource)
      const row = toStepRow(project, span, outline, { receivedAtMs, arrival, derivation, resource })
      if (freshRows.length <= MAX_LIVE_BATCH) freshRows.push(toFreshRow(row))
      yield row
    }
  }
}

function appendLogs(
  pipeline: IngestPipeline,
  project: string,
  { items, rejected }: Batch<LogRecord>,
): Appended {
  const resourceText = cacheText()
  limitEnvelopeCopies(items, resourceText)
  const withoutSession: Rejection[] = []
  const touched = new Set<string>()
  const rows = logRows(project, items, { receivedAtMs: Date.now(), resourceText, withoutSession, touched })
  const durable = pipeline.logs.append(rows, touched)
  return {
    stored: items.length - withoutSession.length,
    rejected: [...rejected, ...withoutSession],
    durable,
  }
}

type LogContext = {
  receivedAtMs: number
  resourceText: (resource: Attributes) => string
  withoutSession: Rejection[]
  touched: Set<string>
}

function* logRows(
  project: string,
  records: readonly LogRecord[],
  { receivedAtMs, resourceText, withoutSession, touched }: LogContext,
): Generator<LogRow, void> {
  for (const record of records) {
    const sessionId = sessionOfLog(record)
    if (sessionId === undefined) {
      withoutSession.push({
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

/** The items of a batch share their resource object: it is stringified once. */
function cacheText(): (attributes: Attributes) => string {
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

/**
 * OTLP sends resource and scope once for many items; the store keeps a copy with each. A body of 2 MB could expand to
 * gigabytes, so such a request is refused before any row is made.
 */
function limitEnvelopeCopies(
  items: readonly { resource: Attributes; scope: Scope }[],
  textOf: (resource: Attributes) => string,
): void {
  let bytes = 0
  for (const { resource, scope } of items) {
    bytes += textOf(resource).length + scope.name.length + scope.version.length
    if (bytes <= MAX_ENVELOPE_COPIES_BYTES) continue
    throw new KnownError(
      'BODY_TOO_LARGE',
      `Resource and scope are stored with each of the ${items.length} items, which takes more than ${MAX_ENVELOPE_COPIES_BYTES} bytes: send smaller batches or shorter resources.`,
    )
  }
}
