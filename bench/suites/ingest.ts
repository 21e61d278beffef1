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
import { visibleIdleFigures } from './visibility.ts'

const CONNECTIONS = 16
/** Enough different text that copies of it are never close together in the store. */
const BODIES: Record<BodyFormat, number> = { protobuf: 500, json: 120 }
const IDLE_MS = 3_000
const STEADY_RATES = [
  { spansPerSecond: 10_000, target: targets.acknowledgeP99At10k },
  { spansPerSecond: 20_000, target: targets.acknowledgeP99At20k },
]
const BUSY_RATE = 30_000
/** A server that has just started compiles its code for as long as a few hundred requests take. */
const WARM_UP = { spansPerSecond: 10_000, seconds: 6 }
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
      await measureWarmUp(run)
      for (const steady of STEADY_RATES) await measureSteady(run, steady)
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
  figures.push(...visibleIdleFigures(delaysMs))
}

async function measureWarmUp(run: Run): Promise<void> {
  const { spansPerSecond, seconds } = WARM_UP
  const { result } = await runPhase(run, {
    name: 'warming up',
    format: 'protobuf',
    seconds: Math.min(seconds, run.options.seconds),
    spansPerSecond,
  })
  run.figures.push({
    what: `acknowledge at ${spansPerSecond / 1_000}k spans/s, p99, in the first ${seconds} s of a new server`,
    figure: percentile(result.latencies, 0.99),
    unit: 'ms',
    note: 'it compiles its code meanwhile',
  })
  await waitForStore(run.server.api, run.progress)
}

async function measureSteady(
  run: Run,
  { spansPerSecond, target }: (typeof STEADY_RATES)[number],
): Promise<void> {
  const { figures, options } = run
  const rate = `${spansPerSecond / 1_000}k spans/s`
  const { result, cpu, peakMb } = await runPhase(run, {
    name: rate,
    format: 'protobuf',
    seconds: Math.min(30, options.seconds),
    spansPerSecond,
  })
  const at = `at ${rate}`
  for (const [name, share] of [
    ['p50', 0.5],
    ['p95', 0.95],
    ['p99', 0.99],
  ] as const) {
    figures.push({
      what: `acknowledge ${at}, ${name}`,
      figure: percentile(result.latencies, share),
      unit: 'ms',
      ...(name === 'p99' && { target, note: `${result.failures} requests refused` }),
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
    what: 'visible after the acknowledgement, at 30k/s, p95',
    figure: percentile(delaysMs, 0.95),
    unit: 'ms',
    target: targets.visibleBusy,
    note: `p50 ${percentile(delaysMs, 0.5).toFixed(0)} ms, ${Math.round(rate).toLocaleString('en-US')} spans/s reached`,
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
  const { rowsWithoutWords } = await server.api.health()
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
      target: targets.ingestStored,
      note: `caught up ${(catchUpMs / 1_000).toFixed(1)} s later`,
    },
    { what: '  acknowledge p99, saturated', figure: percentile(result.latencies, 0.99), unit: 'ms' },
    {
      what: '  memory, peak',
      figure: Math.max(peakMb, stored.peakMb),
      unit: 'MB',
      target: targets.memoryBusy,
    },
    ...cpuFigures('saturated', cpu, spans),
    {
      what: '  CPU per span, until stored, server',
      figure: perSpan(stored.cpu.server, spans),
      unit: 'µs',
      target: targets.serverPerSpan,
    },
    {
      what: '  CPU per span, until searchable, engine',
      figure: perSpan(stored.cpu.engine + words.cpu.engine, spans),
      unit: 'µs',
      target: targets.enginePerSpanWithWords,
      note: `${perSpan(stored.cpu.engine, spans).toFixed(1)} until stored, with the words of ${Math.round(100 * (1 - rowsWithoutWords / spans))}% of the spans; all words collected ${((catchUpMs + wordsMs) / 1_000).toFixed(0)} s after the last acknowledgement`,
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

/** Rates depend on what else the machine does; the CPU time of a span hardly does. */
function cpuFigures(when: string, cpu: CpuUse, spans: number): Figure[] {
  const share = (seconds: number) => perSpan(seconds, spans).toFixed(1)
  return [
    {
      what: `  CPU per span, ${when}`,
      figure: perSpan(cpu.server + cpu.engine, spans),
      unit: 'µs',
      note: `server ${share(cpu.server)}, engine ${share(cpu.engine)} (load generator ${share(cpu.generator)})`,
    },
  ]
}

function perSpan(seconds: number, spans: number): number {
  return (seconds * 1e6) / spans
}

function rowsOf({ disk }: Health, table: string): number {
  return disk.tables.find(({ name }) => name === table)?.rows ?? 0
}
