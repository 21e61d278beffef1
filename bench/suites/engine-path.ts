import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeTraces } from '../../packages/server/src/ingest/http/decode-otlp.ts'
import { ingestSpans } from '../../packages/server/src/ingest/ingest-batch.ts'
import { connectStore, type Store } from '../../packages/server/src/store/connect.ts'
import { insertSegment } from '../../packages/server/src/store/flush-segment.ts'
import { stepColumns } from '../../packages/server/src/store/steps-table.ts'
import { WordBuilder } from '../../packages/server/src/store/word-builder.ts'
import { RequestBodies, SPANS_PER_REQUEST } from '../corpus/request-bodies.ts'
import { describeMachine } from '../harness/machine.ts'
import type { Options } from '../harness/options.ts'
import { cpuSeconds } from '../harness/process-usage.ts'
import type { Progress } from '../harness/progress.ts'
import type { Figure, Report } from '../harness/report.ts'
import { targets } from '../harness/targets.ts'
import { openPipeline } from './hot-path.ts'

const BODIES = 300
const REQUESTS = 1_200
/** About what is written at once under load. */
const REQUESTS_AT_ONCE = 10
const SPANS = REQUESTS * SPANS_PER_REQUEST
const table = { name: 'steps' as const, columns: Object.keys(stepColumns) }

/** What the engine does for a span, one after the other: processor time, which other programs affect less than time. Without sessions. */
export async function runEnginePathSuite(_options: Options, progress: Progress): Promise<Report> {
  const machine = describeMachine()
  const directory = mkdtempSync(join(tmpdir(), 'playhead-engine-path-'))
  const store = await connectStore({ path: join(directory, 'store'), report: console.error })
  try {
    // Merges run when they are measured.
    await store.client.command({ query: 'SYSTEM STOP MERGES' })
    const segments: number[] = []
    const bodies = new RequestBodies({ format: 'protobuf', count: BODIES, seed: 5, onProgress: () => {} })
    progress.show('insert')
    const insert = await perSpan(store, () => insertSpans(store, { directory, bodies, segments }))
    progress.show('merge')
    const merge = await mergeOnce(store, 'steps')
    progress.show('words')
    const words = await perSpan(store, () => collectWords(store))
    const wordsMerge = await mergeOnce(store, 'words')
    const figures: Figure[] = [
      { ...microseconds('insert', insert), note: `${segments.length} segments of the log` },
      microseconds('one merge', merge),
      { ...microseconds('insert and one merge', insert + merge), target: targets.enginePerSpan },
      { ...microseconds('words: collect and insert', words), note: 'in one row for each session and batch' },
      microseconds('words: one merge', wordsMerge),
      { ...microseconds('words: all', words + wordsMerge), target: targets.wordsPerSpan },
    ]
    return { suite: 'engine-path', machine, figures }
  } finally {
    await store.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

function microseconds(what: string, figure: number): Figure {
  return { what: `${what}: the engine's processor time a span`, figure, unit: 'µs' }
}

async function perSpan({ engine }: Store, work: () => Promise<unknown>): Promise<number> {
  const before = cpuSeconds(engine?.pid)
  await work()
  return ((cpuSeconds(engine?.pid) - before) * 1e6) / SPANS
}

/** Sends requests through the log, as the server does, into the real store. */
async function insertSpans(
  store: Store,
  { directory, bodies, segments }: { directory: string; bodies: RequestBodies; segments: number[] },
): Promise<void> {
  const pipeline = await openPipeline(directory, async (segment) => {
    segments.push(segment.rows)
    await insertSegment(segment, table, store)
  })
  const send = async () => {
    const body = bodies.next()!
    await ingestSpans(pipeline, 'default', () => decodeTraces(body.bytes, 'protobuf'))
    body.release()
  }
  for (let sent = 0; sent < REQUESTS; sent += REQUESTS_AT_ONCE)
    await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, send))
  await pipeline.steps.close()
}

/** Merges a table into one part; returns the processor time of one pass. The engine may merge some parts twice. */
async function mergeOnce(store: Store, name: string): Promise<number> {
  const { client } = store
  const before = await mergedRows(store)
  const spent = await perSpan(store, async () => {
    await client.command({ query: `SYSTEM START MERGES ${name}` })
    await client.command({ query: `OPTIMIZE TABLE ${name} FINAL` })
  })
  const [rows] = await read<{ count: number }>(store, `SELECT count() AS count FROM ${name}`)
  return (spent * rows!.count) / ((await mergedRows(store)) - before)
}

async function mergedRows(store: Store): Promise<number> {
  const [event] = await read<{ value: number }>(
    store,
    "SELECT value FROM system.events WHERE event = 'MergedRows'",
  )
  return event?.value ?? 0
}

async function read<Row>({ client }: Store, query: string): Promise<Row[]> {
  return (await client.query({ query, format: 'JSONEachRow' })).json<Row>()
}

async function collectWords(store: Store): Promise<void> {
  const nodes = { isLeader: () => true, isShared: false }
  await new WordBuilder({ store, nodes, report: console.error }).build()
}
