import { setTimeout as sleep } from 'node:timers/promises'
import { Api } from '../harness/api.ts'
import { SPANS_PER_SESSION } from '../corpus/corpus.ts'
import { sendSpans, type LoadResult } from '../server/load.ts'
import { percentile } from '../harness/percentile.ts'
import type { Progress } from '../harness/progress.ts'
import { SPANS_PER_REQUEST, type RequestBodies } from '../corpus/request-bodies.ts'
import { measureQueries, type Subjects } from './measure-queries.ts'
import type { Measures } from './compare.ts'
import type { Contender } from './contender.ts'
import { measureVisible } from './measure-visible.ts'
import { BURST_SPANS, CONNECTIONS, MAX_INGEST_SECONDS } from './parameters.ts'
import { startContender, type Started } from './started.ts'
import { memoryOfTree, TreeMeter, waitUntilIdle } from './tree-meter.ts'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

const PROBES = 20
const SAMPLES = 60
const WARM_STARTS = 3

export type Work = {
  contender: Contender
  directory: string
  bodies: RequestBodies
  subjects: Omit<Subjects, 'traceIds'>
  spans: number
  progress: Progress
}

/** What has been acknowledged and measured so far. */
type Run = Work & { started: Started; acknowledged: number; emptyBytes: number; measures: Measures }

/** Measures one contender, starting with an empty folder. The steps are the same for all contenders. */
export async function measureContender(work: Work): Promise<Measures> {
  show(work, 'first start')
  const started = await startContender(work.contender, work.directory)
  const run: Run = { ...work, started, acknowledged: 0, emptyBytes: 0, measures: {} }
  try {
    await measureIdle(run)
    const sampleIds = await measureIngest(run)
    await measureAllQueries(run, sampleIds)
    await measureLoss(run)
    await measureDisk(run)
    await measureWarmStart(run)
  } finally {
    await run.started.stop()
  }
  return run.measures
}

async function measureIdle(run: Run): Promise<void> {
  const { contender, started, measures } = run
  show(run, 'idle')
  await waitUntilIdle(started.pid)
  measures['memory, idle'] = { figure: memoryOfTree(started.pid), unit: 'MB' }
  run.emptyBytes = await folderBytes(run.directory)
  const [p50, p95] = ['p50', 'p95'].map((name) => `visible after the acknowledgement, idle, ${name}`)
  const { open } = contender.queries
  if ('none' in open) {
    measures[p50!] = open
    measures[p95!] = open
    return
  }
  const delaysMs = await measureVisible(contender, {
    url: started.url,
    open,
    probes: PROBES,
    onProgress: (share) => show(run, 'visible after the acknowledgement', share),
  })
  run.acknowledged += PROBES * SPANS_PER_SESSION
  measures[p50!] = { figure: percentile(delaysMs, 0.5), unit: 'ms' }
  measures[p95!] = { figure: percentile(delaysMs, 0.95), unit: 'ms' }
}

async function measureIngest(run: Run): Promise<string[]> {
  const { started, measures } = run
  const meter = new TreeMeter(started.pid)
  const before = run.acknowledged
  const result = await send(run, run.spans)
  const stored = await waitForSpans(run)
  const { peakMb, cpuSeconds } = meter.stop()
  const { acknowledgedSpans: spans, latencies } = result
  measures['ingest, acknowledged'] = { figure: spans / result.seconds, unit: 'spans/s' }
  measures['ingest, until everything is readable'] = {
    figure: (stored.count - before) / (result.seconds + stored.afterMs / 1_000),
    unit: 'spans/s',
  }
  measures[`acknowledged but not readable after ${MAX_WAIT_MS / 60_000} minutes`] = {
    figure: run.acknowledged - stored.count,
    unit: 'spans',
  }
  measures['acknowledge 100 spans, p50'] = { figure: percentile(latencies, 0.5), unit: 'ms' }
  measures['acknowledge 100 spans, p99'] = { figure: percentile(latencies, 0.99), unit: 'ms' }
  measures['requests refused and retried'] = { figure: result.failures, unit: 'requests' }
  measures['CPU time'] = { figure: (cpuSeconds * 1e6) / spans, unit: 'µs/span' }
  measures['memory, peak'] = { figure: peakMb, unit: 'MB' }
  return result.sampleIds
}

async function measureAllQueries(run: Run, traceIds: string[]): Promise<void> {
  const measured = await measureQueries(run.contender, {
    url: run.started.url,
    subjects: { ...run.subjects, traceIds },
    onProgress: (what) => show(run, what),
  })
  Object.assign(run.measures, measured)
}

/** Kills all processes right after the last acknowledgement, restarts, and counts what is left. */
async function measureLoss(run: Run): Promise<void> {
  await send(run, BURST_SPANS)
  await run.started.kill()
  show(run, 'start after kill -9')
  run.started = await startContender(run.contender, run.directory)
  const { count } = await waitForSpans(run)
  run.measures['acknowledged spans lost by kill -9'] = { figure: run.acknowledged - count, unit: 'spans' }
  run.acknowledged = count
}

async function measureDisk(run: Run): Promise<void> {
  const api = new Api(run.started.url)
  await run.contender.waitForDisk?.(api, run.progress)
  api.close()
  await run.started.stop()
  const bytes = (await folderBytes(run.directory)) - run.emptyBytes
  run.measures['on disk'] = { figure: bytes / run.acknowledged, unit: 'bytes/span' }
}

async function measureWarmStart(run: Run): Promise<void> {
  const times: number[] = []
  for (let start = 0; start < WARM_STARTS; start++) {
    show(run, 'start to first response', start / WARM_STARTS)
    run.started = await startContender(run.contender, run.directory)
    times.push(run.started.readyMs)
    await run.started.stop()
  }
  run.measures['start to first response, warm'] = { figure: percentile(times, 0.5), unit: 'ms' }
}

async function send(run: Run, spans: number): Promise<LoadResult> {
  const result = await sendSpans({
    url: run.started.url,
    bodies: run.bodies,
    format: 'protobuf',
    connections: CONNECTIONS,
    seconds: MAX_INGEST_SECONDS,
    spans,
    headers: run.contender.headers ?? {},
    sampledEvery: Math.max(1, Math.floor(spans / SPANS_PER_REQUEST / SAMPLES)),
    onProgress: (_, { acknowledgedSpans, seconds }) =>
      show(
        run,
        'ingest',
        acknowledgedSpans / spans,
        `${Math.round(acknowledgedSpans / seconds).toLocaleString('en-US')} spans/s`,
      ),
  })
  run.acknowledged += result.acknowledgedSpans
  return result
}

/** Counts less often the longer it takes, so that counting itself does not slow it down. */
const COUNTS = { mostOftenMs: 50, leastOftenMs: 2_000, shareOfWait: 0.05 }
/** If no more spans have arrived for this long, no more will. */
const QUIET_MS = 20_000
const MAX_WAIT_MS = 180_000

/** Waits until all acknowledged spans are readable, or no more arrive. Returns when the last one arrived. */
async function waitForSpans(run: Run): Promise<{ count: number; afterMs: number }> {
  const startedAtMs = performance.now()
  const api = new Api(run.started.url)
  let [count, afterMs] = [-1, 0]
  const isWorthWaiting = () => {
    const waitedMs = performance.now() - startedAtMs
    return waitedMs - afterMs < QUIET_MS && waitedMs < MAX_WAIT_MS
  }
  while (count < run.acknowledged && isWorthWaiting()) {
    if (count !== -1) await sleep(pauseAfter(performance.now() - startedAtMs))
    const now = await run.contender.countSpans(api, run.directory)
    if (now !== count) afterMs = performance.now() - startedAtMs
    count = now
    show(run, 'until everything is readable', count / run.acknowledged)
  }
  api.close()
  return { count, afterMs }
}

function pauseAfter(waitedMs: number): number {
  return Math.min(COUNTS.leastOftenMs, Math.max(COUNTS.mostOftenMs, waitedMs * COUNTS.shareOfWait))
}

function show({ contender, progress }: Work, what: string, share?: number, note?: string): void {
  progress.show(`${contender.name}: ${what}`, share, note)
}

/** The bytes on disk of all files in a folder. */
async function folderBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  const sizes = await Promise.all(
    entries.filter((entry) => entry.isFile()).map((entry) => blocksOf(join(entry.parentPath, entry.name))),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** A file that a merge has just removed counts as 0. */
function blocksOf(file: string): Promise<number> {
  return stat(file).then(
    ({ blocks }) => blocks * 512,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return 0
      throw error
    },
  )
}
