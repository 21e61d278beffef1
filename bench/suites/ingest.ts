import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Health } from '../harness/api.ts'
import { startBenchServer, type BenchServer } from '../server/bench-server.ts'
import { SPANS_PER_SESSION } from '../corpus/corpus.ts'
import { withDataDirectory } from '../harness/data-directory.ts'
import { saturate, sendAtRate, type LoadResult } from '../server/load.ts'
import { describeMachine } from '../harness/machine.ts'
import type { Options } from '../harness/options.ts'
import { percentile } from '../harness/percentile.ts'
import type { Progress } from '../harness/progress.ts'
import type { Figure, Report } from '../harness/report.ts'
import { RequestBodies, type BodyFormat } from '../corpus/request-bodies.ts'
import { diskPerSpan } from '../server/disk-per-span.ts'
import { waitForMerges, waitForStore, waitForWords } from '../server/wait-for-store.ts'
import { targets } from '../harness/targets.ts'
import { memoryOf, UsageMeter, type CpuUse } from '../server/usage-meter.ts'
import { measureVisibility } from '../server/visibility.ts'

const CONNECTIONS = 16
/** Enough different text that copies of it are never close together in the store. */
const BODIES: Record<BodyFormat, number> = { protobuf: 500, json: 120 }
const IDLE_MS = 3_000
const STEADY_RATE = 20_000
const BUSY_RATE = 30_000
const WARM_STARTS = 3

/** What a phase needs, and what the phases have sent so far. */
type Run = {
  server: BenchServer
  options: Options
  progress: Progress
  bodies: RequestBodies
  figures: Figure[]
  sent: { spans: number; failures: number; sampleIds: string[] }
}

export async function runIngestSuite(options: Options, progress: Progress): Promise<Report> {
  const machine = describeMachine()
  const figures = await withDataDirectory(options.data, async (directory) => {
    if (existsSync(join(directory, 'store')))
      throw new Error(`${directory} is not empty. This suite needs an empty folder.`)
    const bodies = encodeBodies('protobuf', progress)
    progress.show('starting the server')
    const server = await startBenchServer(directory)
    const sent = { spans: 0, failures: 0, sampleIds: [] }
    const run: Run = { server, options, progress, bodies, figures: [], sent }
    try {
      await measureIdle(run)
      await measureSteady(run)
      await measureBusyVisibility(run)
      await measureSaturated(run)
      await measureJson(run)
      await measureDisk(run)
    } finally {
      await server.stop()
    }
    await measureWarmStart(run, directory)
    return run.figures
  })
  return { suite: 'ingest', machine, figures }
}

function encodeBodies(format: BodyFormat, progress: Progress): RequestBodies {
  return new RequestBodies({
    format,
    count: BODIES[format],
    seed: format === 'protobuf' ? 1 : 2,
    onProgress: (share) => progress.show(`encoding requests (${format})`, share),
  })
}

async function measureIdle({ server, progress, figures, sent }: Run): Promise<void> {
  progress.show('idle')
  await sleep(IDLE_MS)
  figures.push({
    what: 'memory, idle',
    figure: memoryOf(server),
    unit: 'MB',
    target: targets.memoryIdle,
    note: 'server and engine together',
  })
  const { delaysMs, spans } = await measureVisibility(server.api, {
    count: 20,
    pauseMs: 400,
    seed: 101,
    onProgress: (share) => progress.show('visible after the acknowledgement, idle', share),
  })
  sent.spans += spans
  figures.push(visibleFigure('visible after the acknowledgement, idle, p95', delaysMs, targets.visibleIdle))
}

async function measureSteady(run: Run): Promise<void> {
  const { figures, options } = run
  const { result, cpu, peakMb } = await runPhase(run, {
    name: `${STEADY_RATE / 1_000}k spans/s`,
    format: 'protobuf',
    seconds: Math.min(30, options.seconds),
    spansPerSecond: STEADY_RATE,
  })
  const at = `at ${STEADY_RATE / 1_000}k spans/s`
  for (const [name, share] of [
    ['p50', 0.5],
    ['p95', 0.95],
    ['p99', 0.99],
  ] as const) {
    figures.push({
      what: `acknowledge ${at}, ${name}`,
      figure: percentile(result.latencies, share),
      unit: 'ms',
      ...(name === 'p99' && { target: targets.acknowledgeP99 }),
    })
  }
  figures.push({ what: `memory ${at}, peak`, figure: peakMb, unit: 'MB', target: targets.memoryBusy })
  figures.push(...cpuFigures(at, cpu, result.acknowledgedSpans))
  await waitForStore(run.server.api, run.progress)
}

async function measureBusyVisibility(run: Run): Promise<void> {
  const { server, figures, options, sent } = run
  const seconds = Math.min(20, options.seconds)
  const load = runPhase(run, {
    name: `visible at ${BUSY_RATE / 1_000}k spans/s`,
    format: 'protobuf',
    seconds,
    spansPerSecond: BUSY_RATE,
  })
  await sleep(Math.min(4_000, seconds * 500))
  const { delaysMs, spans } = await measureVisibility(server.api, {
    count: 8,
    pauseMs: 300,
    seed: 102,
    onProgress: () => undefined,
  })
  const { result } = await load
  sent.spans += spans
  const rate = result.acknowledgedSpans / result.seconds
  figures.push({
    ...visibleFigure('visible after the acknowledgement, at 30k/s, p95', delaysMs, targets.visibleBusy),
    note: `${Math.round(rate).toLocaleString('en-US')} spans/s reached`,
  })
  await waitForStore(server.api, run.progress)
}

async function measureSaturated(run: Run): Promise<void> {
  const { figures, options, server, progress } = run
  await waitForWords(server.api, progress)
  const untilStored = new UsageMeter(server)
  const { result, cpu, peakMb } = await runPhase(run, {
    name: 'protobuf, saturated',
    format: 'protobuf',
    seconds: options.seconds,
  })
  const catchUpMs = await waitForStore(server.api, progress)
  const stored = untilStored.stop()
  const untilSearchable = new UsageMeter(server)
  const wordsMs = await waitForWords(server.api, progress)
  const words = untilSearchable.stop()
  const { acknowledgedSpans: spans, seconds } = result
  figures.push(
    rateFigure(`ingest, protobuf, ${options.seconds} s`, result, targets.ingestProtobuf),
    {
      what: '  including the time until everything is in the store',
      figure: spans / (seconds + catchUpMs / 1_000),
      unit: 'spans/s',
      note: `caught up ${(catchUpMs / 1_000).toFixed(1)} s later`,
    },
    { what: '  acknowledge p99, saturated', figure: percentile(result.latencies, 0.99), unit: 'ms' },
    { what: '  memory, peak', figure: peakMb, unit: 'MB' },
    ...cpuFigures('saturated', cpu, spans),
    ...cpuFigures('saturated, until stored', stored.cpu, spans),
    {
      what: '  CPU per span, words',
      figure: (words.cpu.engine * 1e6) / spans,
      unit: 'µs',
      note: `the engine's, merges included; all words collected ${((catchUpMs + wordsMs) / 1_000).toFixed(0)} s after the last acknowledgement`,
    },
  )
}

async function measureJson(run: Run): Promise<void> {
  const seconds = Math.min(30, run.options.seconds)
  const json = { ...run, bodies: encodeBodies('json', run.progress) }
  const { result, cpu } = await runPhase(json, { name: 'JSON, saturated', format: 'json', seconds })
  run.figures.push(
    rateFigure(`ingest, OTLP/JSON, ${seconds} s`, result, targets.ingestJson),
    ...cpuFigures('JSON', cpu, result.acknowledgedSpans),
  )
}

type Phase = { name: string; format: BodyFormat; seconds: number; spansPerSecond?: number }

async function runPhase(
  { server, bodies, progress, sent }: Run,
  { name, format, seconds, spansPerSecond }: Phase,
): Promise<{ result: LoadResult; cpu: CpuUse; peakMb: number }> {
  const meter = new UsageMeter(server)
  const load = {
    url: server.url,
    bodies,
    format,
    connections: CONNECTIONS,
    seconds,
    onProgress: (share: number, { acknowledgedSpans, seconds: elapsed }: LoadResult) =>
      progress.show(
        name,
        share,
        `${Math.round(acknowledgedSpans / elapsed).toLocaleString('en-US')} spans/s`,
      ),
  }
  const result =
    spansPerSecond === undefined ? await saturate(load) : await sendAtRate({ ...load, spansPerSecond })
  sent.spans += result.acknowledgedSpans
  sent.failures += result.failures
  sent.sampleIds.push(...result.sampleIds)
  return { result, ...meter.stop() }
}

/** Measures the size of the store at the end, and checks that everything acknowledged is there. */
async function measureDisk({ server, progress, figures, sent }: Run): Promise<void> {
  const health = await waitForMerges(server.api, progress)
  const { bytes, note } = diskPerSpan(health, sent.spans)
  figures.push(
    {
      what: 'on disk per span, after merges',
      figure: bytes,
      unit: 'bytes',
      target: targets.bytesPerSpan,
      note,
    },
    {
      what: 'acknowledged spans not stored',
      figure: sent.spans - rowsOf(health, 'steps'),
      unit: 'spans',
      target: targets.lostSpans,
      note: `${sent.spans.toLocaleString('en-US')} acknowledged, ${rowsOf(health, 'steps').toLocaleString('en-US')} rows, ${sent.failures} requests refused`,
    },
    {
      what: 'acknowledged sessions that open incomplete',
      figure: await countIncomplete(server, sent.sampleIds),
      unit: 'sessions',
      note: `of ${sent.sampleIds.length} checked`,
    },
  )
}

async function countIncomplete(server: BenchServer, ids: readonly string[]): Promise<number> {
  let incomplete = 0
  for (const id of ids) {
    const { status, text } = await server.api.send('GET', `/api/sessions/${id}?payloads=none`)
    const steps = status === 200 ? (JSON.parse(text) as { steps: unknown[] }).steps.length : 0
    if (steps !== SPANS_PER_SESSION) incomplete += 1
  }
  return incomplete
}

async function measureWarmStart({ progress, figures, sent }: Run, directory: string): Promise<void> {
  const times: number[] = []
  for (let start = 0; start < WARM_STARTS; start++) {
    progress.show('restarting', start / WARM_STARTS)
    const server = await startBenchServer(directory)
    times.push(server.firstResponseMs)
    await server.stop()
  }
  figures.push({
    what: 'start to first response, warm',
    figure: percentile(times, 0.5),
    unit: 'ms',
    target: targets.firstResponse,
    note: `over ${sent.spans.toLocaleString('en-US')} spans`,
  })
}

function rateFigure(what: string, result: LoadResult, target: Figure['target']): Figure {
  return {
    what,
    figure: result.acknowledgedSpans / result.seconds,
    unit: 'spans/s',
    ...(target !== undefined && { target }),
    note: `${CONNECTIONS} connections, ${result.failures} requests refused`,
  }
}

function visibleFigure(what: string, delaysMs: readonly number[], target: Figure['target']): Figure {
  return {
    what,
    figure: percentile(delaysMs, 0.95),
    unit: 'ms',
    ...(target !== undefined && { target }),
    note: `p50 ${percentile(delaysMs, 0.5).toFixed(0)} ms`,
  }
}

/** Rates depend on what else the machine does; the CPU time of a span hardly does. */
function cpuFigures(when: string, cpu: CpuUse, spans: number): Figure[] {
  const perSpan = (seconds: number) => (seconds * 1e6) / spans
  return [
    {
      what: `  CPU per span, ${when}`,
      figure: perSpan(cpu.server + cpu.engine),
      unit: 'µs',
      note: `server ${perSpan(cpu.server).toFixed(1)}, engine ${perSpan(cpu.engine).toFixed(1)} (load generator ${perSpan(cpu.generator).toFixed(1)})`,
    },
  ]
}

function rowsOf({ disk }: Health, table: string): number {
  return disk.tables.find(({ name }) => name === table)?.rows ?? 0
}
