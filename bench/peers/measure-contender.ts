import { setTimeout as sleep } from 'node:timers/promises'
import { Api } from '../api.ts'
import { SPANS_PER_SESSION } from '../corpus.ts'
import { sendSpans, type LoadResult } from '../load.ts'
import { percentile } from '../percentile.ts'
import type { Progress } from '../progress.ts'
import { SPANS_PER_REQUEST, type RequestBodies } from '../request-bodies.ts'
import { askQuestions, type Subjects } from './ask-questions.ts'
import type { Measures } from './compare.ts'
import type { Contender } from './contender.ts'
import { folderBytes } from './folder-bytes.ts'
import { measureVisible } from './measure-visible.ts'
import { BURST_SPANS, CONNECTIONS, MAX_INGEST_SECONDS } from './parameters.ts'
import { startContender, type Started } from './started.ts'
import { memoryOfTree, TreeMeter, waitUntilIdle } from './tree-meter.ts'

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

/** What has been sent, acknowledged and measured so far. */
type Run = Work & { started: Started; acknowledged: number; emptyBytes: number; measures: Measures }

/** One contender from an empty folder on: the same steps in the same order for each. */
export async function measureContender(work: Work): Promise<Measures> {
  show(work, 'first start')
  const started = await startContender(work.contender, work.directory)
  const run: Run = { ...work, started, acknowledged: 0, emptyBytes: 0, measures: {} }
  try {
    await measureIdle(run)
    const sampleIds = await measureIngest(run)
    await measureQuestions(run, sampleIds)
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
  const { open } = contender.questions
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
  measures['ingest, until all can be read'] = {
    figure: (stored.count - before) / (result.seconds + stored.afterMs / 1_000),
    unit: 'spans/s',
  }
  measures[`acknowledged, and not to be read ${MAX_WAIT_MS / 60_000} minutes later`] = {
    figure: run.acknowledged - stored.count,
    unit: 'spans',
  }
  measures['acknowledge 100 spans, p50'] = { figure: percentile(latencies, 0.5), unit: 'ms' }
  measures['acknowledge 100 spans, p99'] = { figure: percentile(latencies, 0.99), unit: 'ms' }
  measures['requests refused, and sent again'] = { figure: result.failures, unit: 'requests' }
  measures['processor time'] = { figure: (cpuSeconds * 1e6) / spans, unit: 'µs/span' }
  measures['memory, peak'] = { figure: peakMb, unit: 'MB' }
  return result.sampleIds
}

async function measureQuestions(run: Run, traceIds: string[]): Promise<void> {
  const answers = await askQuestions(run.contender, {
    url: run.started.url,
    subjects: { ...run.subjects, traceIds },
    onProgress: (what) => show(run, what),
  })
  Object.assign(run.measures, answers)
}

/** Ends everything at once, right after the last acknowledgement, and looks what is there afterwards. */
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
  await run.contender.settle?.(api, run.progress)
  api.close()
  await run.started.stop()
  const bytes = (await folderBytes(run.directory)) - run.emptyBytes
  run.measures['on disk'] = { figure: bytes / run.acknowledged, unit: 'bytes/span' }
}

async function measureWarmStart(run: Run): Promise<void> {
  const times: number[] = []
  for (let start = 0; start < WARM_STARTS; start++) {
    show(run, 'start to first answer', start / WARM_STARTS)
    run.started = await startContender(run.contender, run.directory)
    times.push(run.started.readyMs)
    await run.started.stop()
  }
  run.measures['start to first answer, warm'] = { figure: percentile(times, 0.5), unit: 'ms' }
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

/** The longer it takes, the less often is counted, so that counting is none of what takes so long. */
const COUNTS = { mostOftenMs: 50, leastOftenMs: 2_000, shareOfWait: 0.05 }
/** When no more have come for so long, no more will. */
const QUIET_MS = 20_000
const MAX_WAIT_MS = 180_000

/** Waits until what was acknowledged can be read, or no more comes; returns after how long the last one came. */
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
    show(run, 'until all can be read', count / run.acknowledged)
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
