import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NORMALIZER_VERSION, trimOutlines, type Span } from '@playhead/model'
import { createPricer } from '@playhead/model/prices'
import { deriveOutline } from '../../packages/server/src/ingest/derive-step.ts'
import { DialectFailures } from '../../packages/server/src/ingest/dialect-failures.ts'
import { decodeTraces } from '../../packages/server/src/ingest/http/decode-otlp.ts'
import { ingestSpans, type IngestPipeline } from '../../packages/server/src/ingest/ingest-batch.ts'
import { IngestThread } from '../../packages/server/src/ingest/thread/ingest-thread.ts'
import { createCounters } from '../../packages/server/src/ingest/counters.ts'
import { LiveFeed } from '../../packages/server/src/live/live-feed.ts'
import { DamagedFiles } from '../../packages/server/src/log/damaged-files.ts'
import { PendingRows } from '../../packages/server/src/log/pending-rows.ts'
import type { Segment } from '../../packages/server/src/log/segment-file.ts'
import { SegmentLog } from '../../packages/server/src/log/segment-log.ts'
import { FreshRows } from '../../packages/server/src/sessions/fresh-rows.ts'
import { FreshSessions } from '../../packages/server/src/sessions/fresh-sessions.ts'
import { stepColumns, toStepRow, type StepRow } from '../../packages/server/src/store/steps-table.ts'
import { RequestBodies, SPANS_PER_REQUEST, type Parcel } from '../corpus/request-bodies.ts'
import { describeMachine } from '../harness/machine.ts'
import type { Options } from '../harness/options.ts'
import { percentile } from '../harness/percentile.ts'
import type { Progress } from '../harness/progress.ts'
import type { Figure, Report } from '../harness/report.ts'

const BODIES = 60
/** Of all bodies. The first ones include compiling. */
const ROUNDS = 12
const WARM_UP_ROUNDS = 4

const stages = ['decode', 'derive', 'row', 'remember', 'encode'] as const
type Stage = (typeof stages)[number]

const notes: Record<Stage, string> = {
  decode: 'protobuf to spans',
  derive: 'spans to steps: dialect, previews, price',
  row: 'the JSON of attributes and outline',
  remember: 'what sessions are computed from',
  encode: "ClickHouse's Native format",
}

/** What the server's main thread does for a span, by stage: processor time, which other programs hardly affect. */
export async function runHotPathSuite(_options: Options, progress: Progress): Promise<Report> {
  const machine = describeMachine()
  const bodies = new RequestBodies({
    format: 'protobuf',
    count: BODIES,
    seed: 3,
    onProgress: (share) => progress.show(`encoding requests, ${Math.round(share * 100)}%`),
  })
  progress.show('measuring each stage')
  const times = measureStages(bodies)
  progress.show('measuring whole requests')
  const whole = await measureRequests(bodies)
  const figures: Figure[] = stages.map((stage) => ({
    what: `${stage}: processor time a span`,
    figure: percentile(times[stage], 0.5),
    unit: 'µs',
    note: notes[stage],
  }))
  const sums = times.decode.map((_, round) => stages.reduce((sum, stage) => sum + times[stage][round]!, 0))
  figures.push(
    { what: 'all stages: processor time a span', figure: percentile(sums, 0.5), unit: 'µs' },
    {
      what: 'request to disk: processor time a span',
      figure: percentile(whole, 0.5),
      unit: 'µs',
      note: 'all stages, the log and its writes, without HTTP and the store',
    },
  )
  return { suite: 'hot-path', machine, figures }
}

function measureStages(bodies: RequestBodies): Record<Stage, number[]> {
  const times: Record<Stage, number[]> = { decode: [], derive: [], row: [], remember: [], encode: [] }
  const pending = new PendingRows(stepColumns)
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
    const spent: Record<Stage, number> = { decode: 0, derive: 0, row: 0, remember: 0, encode: 0 }
    const measure = <Result>(stage: Stage, work: () => Result): Result => {
      const before = process.cpuUsage()
      const result = work()
      const { user, system } = process.cpuUsage(before)
      spent[stage] += user + system
      return result
    }
    for (let index = 0; index < BODIES; index++) {
      const body = bodies.next()!
      passThrough(body, pending, measure)
      body.release()
      // About what is written at once under load.
      if (index % 8 === 7) pending.clear()
    }
    if (round < WARM_UP_ROUNDS) continue
    for (const stage of stages) times[stage].push(spent[stage] / (BODIES * SPANS_PER_REQUEST))
  }
  return times
}

const pricer = createPricer()
const dialectFailures = new DialectFailures(console.error)

function passThrough(
  { bytes }: Parcel,
  pending: PendingRows<StepRow>,
  measure: <Result>(stage: Stage, work: () => Result) => Result,
): void {
  const spans = measure('decode', () => decodeTraces(bytes, 'protobuf').items)
  const outlines = measure('derive', () => {
    const derived = spans.map((span) => deriveOutline(span, pricer, dialectFailures))
    trimOutlines(derived)
    return derived
  })
  const resource = JSON.stringify(spans[0]!.resource)
  const derivation = { normalizerVersion: NORMALIZER_VERSION, priceRevision: 1 }
  const toRow = (span: Span, index: number) =>
    toStepRow('default', span, outlines[index]!, {
      receivedAtMs: 1_790_000_000_000,
      arrival: 1,
      derivation,
      resource,
    })
  const rows = measure('row', () => spans.map(toRow))
  measure('remember', () => {
    const fresh = new FreshRows()
    for (const row of rows) fresh.add(row)
    fresh.end()
  })
  measure('encode', () => pending.appendAll(rows))
}

/** Sends requests through the pipeline as the server does, several at a time. The store takes every segment at once. */
async function measureRequests(bodies: RequestBodies): Promise<number[]> {
  const directory = mkdtempSync(join(tmpdir(), 'playhead-hot-path-'))
  try {
    const pipeline = await openPipeline(directory)
    const times: number[] = []
    for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
      const before = process.cpuUsage()
      for (let sent = 0; sent < BODIES; sent += 10)
        await Promise.all(
          Array.from({ length: 10 }, async () => {
            const body = bodies.next()!
            await ingestSpans(pipeline, 'default', () => decodeTraces(body.bytes, 'protobuf'))
            body.release()
          }),
        )
      const { user, system } = process.cpuUsage(before)
      if (round >= WARM_UP_ROUNDS) times.push((user + system) / (BODIES * SPANS_PER_REQUEST))
    }
    await pipeline.steps.close()
    return times
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** The log of steps and what feeds it. `insert` takes its segments. */
export async function openPipeline(
  directory: string,
  insert: (segment: Segment) => Promise<void> = () => Promise.resolve(),
): Promise<IngestPipeline> {
  let arrivals = 0
  const damaged = await DamagedFiles.open(join(directory, 'damaged'), console.error)
  const steps = await SegmentLog.open<StepRow>({
    directory: join(directory, 'log'),
    columns: stepColumns,
    firstId: 1n,
    name: 'steps',
    damaged,
    insert,
    refresh: () => Promise.resolve(),
    report: console.error,
  })
  return {
    steps,
    logs: undefined as never,
    live: new LiveFeed(),
    fresh: new FreshSessions(),
    pricerOf: () => ({ pricer, revision: 1, overrides: [] }),
    thread: new IngestThread(console.error),
    counters: createCounters(),
    dialectFailures,
    usage: { note: () => undefined } as unknown as IngestPipeline['usage'],
    nextArrival: () => ++arrivals,
    reserveArrivals: (count) => (arrivals += count) - count + 1,
  }
}
