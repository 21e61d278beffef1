import { setTimeout as sleep } from 'node:timers/promises'
import { logToDraft, sessionOfLog, type Attributes, type LogRecord, type Span } from '@playhead/model'
import type { DailyUsage } from '../access/daily-usage.ts'
import { MAX_LIVE_BATCH, type LiveFeed } from '../live/live-feed.ts'
import type { SegmentLog } from '../log/segment-log.ts'
import { FreshRows } from '../sessions/fresh-rows.ts'
import type { FreshSessions } from '../sessions/fresh-sessions.ts'
import { toLogRow, type LogRow } from '../store/logs-table.ts'
import type { StepRow } from '../store/steps-table.ts'
import type { Counters } from './counters.ts'
import type { DialectFailures } from './dialect-failures.ts'
import type { Batch, Rejection } from './rejection.ts'
import type { EncodedSpans, SpanThread, ThreadContext, TraceRequest } from './span-thread.ts'
import { cacheText, limitEnvelopeCopies, LiveOutlines, stepRows } from './step-rows.ts'

/** Where spans and log records go, whichever protocol they arrive by. */
export type IngestPipeline = ThreadContext & {
  steps: SegmentLog<StepRow>
  logs: SegmentLog<LogRow>
  live: LiveFeed
  fresh: FreshSessions
  /** Reads spans beside this thread while many arrive. */
  thread: SpanThread
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
  const append = () => appendSpans(pipeline, project, decode(), isRewrite)
  return countSpans(pipeline, project, await appendBatch(pipeline.steps, append), bytes)
}

/** As `ingestSpans`, for OTLP. While many spans arrive, another thread reads and encodes them. */
export async function ingestTraces(
  pipeline: IngestPipeline,
  request: TraceRequest,
  decode: (body: Buffer) => Batch<Span>,
): Promise<Rejection[]> {
  const { project, isRewrite } = request
  const bytes = request.body.length
  const append = async () => {
    const { encoded, unread } = await pipeline.thread.encode(request, pipeline)
    return encoded === undefined
      ? appendSpans(pipeline, project, decode(unread.whole()), isRewrite)
      : appendEncoded(pipeline, project, encoded)
  }
  return countSpans(pipeline, project, await appendBatch(pipeline.steps, append), bytes)
}

function countSpans(
  { counters, usage }: IngestPipeline,
  project: string,
  { stored, rejected }: Appended,
  bytes: number,
): Rejection[] {
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
  append: () => Appended | Promise<Appended>,
): Promise<Appended> {
  const { senderDelayMs } = log
  if (senderDelayMs >= 1) await sleep(senderDelayMs)
  while (log.isCrowded) await log.room()
  const appended = await append()
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
  const freshRows = new FreshRows()
  const touched = new Set<string>()
  const rows = stepRows(project, items, { ...context, resourceText, outlines, freshRows, touched })
  const written = pipeline.steps.append(rows, keysOf(project, touched))
  const parts = freshRows.end()
  const tooMany = items.length > MAX_LIVE_BATCH ? new Set(items.map(({ traceId }) => traceId)) : undefined
  const durable = written.then(() => {
    // Nothing here refers to the spans: they would all be kept in memory, and moved by each collection, until the disk is done.
    live.publishSteps(project, outlines.list)
    if (tooMany === undefined) fresh.note(project, parts)
    else fresh.forget(project, tooMany)
  })
  return { stored: items.length, rejected, durable }
}

function appendEncoded(
  { steps, live, fresh, thread, dialectFailures }: IngestPipeline,
  project: string,
  encoded: EncodedSpans,
): Appended {
  const { block, traceIds, parts, outlines, failures, rejected } = encoded
  dialectFailures.note(failures)
  const durable = steps
    .appendBlock(block, keysOf(project, traceIds))
    .then(() => {
      live.publishSteps(project, outlines)
      fresh.note(project, parts)
    })
    .finally(() => thread.reuse(encoded))
  return { stored: block.rows, rejected, durable }
}

/** A generator, because the traces of a batch are known when its rows are. */
function* keysOf(project: string, traceIds: Iterable<string>): Generator<string, void> {
  for (const id of traceIds) yield `${project}\0${id}`
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
