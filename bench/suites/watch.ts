import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connectStore } from '../../packages/server/src/store/connect.ts'
import { RequestBodies } from '../corpus/request-bodies.ts'
import { SPANS_PER_SESSION } from '../corpus/corpus.ts'
import type { Api } from '../harness/api.ts'
import { withDataDirectory } from '../harness/data-directory.ts'
import { describeMachine } from '../harness/machine.ts'
import type { Options } from '../harness/options.ts'
import { percentile } from '../harness/percentile.ts'
import type { Progress } from '../harness/progress.ts'
import type { Figure, Report } from '../harness/report.ts'
import { targets, type Target } from '../harness/targets.ts'
import { startBenchServer, type BenchServer } from '../server/bench-server.ts'
import { fillScoredSessions } from '../server/fill-sessions.ts'
import { saturate, sendAtRate, type Load } from '../server/load.ts'
import { UsageMeter } from '../server/usage-meter.ts'
import { waitForMerges, waitForStore } from '../server/wait-for-store.ts'

const RULES = 100
/** Runs with and without rules take turns, so that whatever else the machine does hits both. */
const PAIRS = 3
const CONNECTIONS = 16
const STEADY_SPANS = 1_000
/** A server that has just started compiles its code, which takes as long as a thousand requests. */
const WARM_UP_SECONDS = 5
const BODIES = 200
const WARM_UP_REQUESTS = 2
/** Of fewer, the p95 would be the slowest one. */
const MEASURED_REQUESTS = 60
const HOUR_MS = 3_600_000

/** What monitors cost while spans arrive, previews over 30 days, and lists and statistics of scores. */
export async function runWatchSuite(options: Options, progress: Progress): Promise<Report> {
  const machine = describeMachine()
  const figures = await measureRules(options, progress)
  const within = (name: string) => options.data && join(options.data, name)
  figures.push(
    ...(await withDataDirectory(within('sessions'), (directory) =>
      measurePreviews(directory, options.spans, progress),
    )),
    ...(await withDataDirectory(within('scores'), (directory) =>
      measureScores(
        directory,
        { sessions: options.spans / SPANS_PER_SESSION, scoresEach: SPANS_PER_SESSION },
        progress,
      ),
    )),
  )
  return { suite: `watch, ${options.spans.toLocaleString('en-US')} sessions`, machine, figures }
}

type IngestRun = { spansPerSecond: number; cpuPerSpan: number }

/** As fast as it goes, and a load at which the server is not busy, so that findings and rules keep up. */
const loads = [
  { name: 'saturated', spansPerSecond: undefined },
  { name: `${STEADY_SPANS.toLocaleString('en-US')} spans/s`, spansPerSecond: STEADY_SPANS },
] as const
type IngestLoad = (typeof loads)[number]

async function measureRules({ seconds }: Options, progress: Progress): Promise<Figure[]> {
  const bodies = new RequestBodies({
    format: 'protobuf',
    count: BODIES,
    seed: 1,
    onProgress: (share) => progress.show('encoding requests', share),
  })
  const phase = { bodies, seconds: Math.max(5, seconds / 3), progress }
  const figures: Figure[] = []
  for (const load of loads) {
    const [without, withRules]: [IngestRun[], IngestRun[]] = [[], []]
    for (let pair = 0; pair < PAIRS; pair += 1) {
      without.push(await ingest(0, load, phase))
      withRules.push(await ingest(RULES, load, phase))
    }
    figures.push(...compare(load, without, withRules, phase.seconds))
  }
  return figures
}

/** Processor time decides: on a machine with other work, throughput differs by more than the limit from run to run. */
function compare(
  { name, spansPerSecond }: IngestLoad,
  without: readonly IngestRun[],
  withRules: readonly IngestRun[],
  seconds: number,
): Figure[] {
  const cpu = [without, withRules].map((runs) => median(runs, 'cpuPerSpan'))
  const throughput = [without, withRules].map((runs) => median(runs, 'spansPerSecond'))
  const figures: Figure[] = [without, withRules].map((runs, index) => ({
    what: `${name}: processor time per span ${index === 0 ? 'without rules' : `with ${RULES} rules`}`,
    figure: cpu[index]!,
    unit: 'µs',
    note: `median of ${PAIRS}, ${seconds.toFixed(0)} s each, taking turns: ${runs.map(({ cpuPerSpan }) => cpuPerSpan.toFixed(0)).join(', ')}`,
  }))
  figures.push({
    what: `${name}: processor time that ${RULES} rules add`,
    figure: (cpu[1]! / cpu[0]! - 1) * 100,
    unit: '%',
    target: targets.rulesIngestShare,
  })
  if (spansPerSecond === undefined)
    figures.push({
      what: `${name}: ingest with ${RULES} rules`,
      figure: throughput[1]!,
      unit: 'spans/s',
      note: `without rules ${Math.round(throughput[0]!).toLocaleString('en-US')}: ${((1 - throughput[1]! / throughput[0]!) * 100).toFixed(1)}% lost`,
    })
  return figures
}

function median(runs: readonly IngestRun[], of: keyof IngestRun): number {
  return percentile(
    runs.map((run) => run[of]),
    0.5,
  )
}

/** Sends to a new server for some seconds, once it is warm. */
async function ingest(
  rules: number,
  { name, spansPerSecond }: IngestLoad,
  { bodies, seconds, progress }: { bodies: RequestBodies; seconds: number; progress: Progress },
): Promise<IngestRun> {
  return withDataDirectory(undefined, async (directory) => {
    const server = await startBenchServer(directory)
    try {
      for (let index = 0; index < rules; index += 1) await createRule(server.api, index)
      const load: Load = {
        url: server.url,
        bodies,
        format: 'protobuf',
        connections: CONNECTIONS,
        seconds,
        onProgress: (share) => progress.show(`ingest with ${rules} rules, ${name}`, share),
      }
      const send = (given: Load) =>
        spansPerSecond === undefined ? saturate(given) : sendAtRate({ ...given, spansPerSecond })
      await send({ ...load, seconds: WARM_UP_SECONDS })
      await waitForStore(server.api, progress)
      const meter = new UsageMeter(server)
      const result = await send(load)
      // What the rules cost after the last acknowledgement counts too.
      await waitForStore(server.api, progress)
      const { cpu } = meter.stop()
      const spans = result.acknowledgedSpans
      return {
        spansPerSecond: spans / result.seconds,
        cpuPerSpan: ((cpu.server + cpu.engine) * 1e6) / spans,
      }
    } finally {
      await server.stop()
    }
  })
}

const rules: readonly ((index: number) => object)[] = [
  (index) => ({ kind: 'never', action: `forbidden_${index}` }),
  (index) => ({ kind: 'never', action: `late_${index}`, before: `early_${index}` }),
  () => ({ kind: 'at-most', times: 50 }),
  (index) => ({ kind: 'cost', atMost: 10 + index }),
  (index) => ({ kind: 'duration', atMostMs: HOUR_MS + index }),
]

async function createRule(api: Api, index: number): Promise<void> {
  const rule = rules[index % rules.length]!(index)
  const condition = { kind: 'rule', rule, windowMs: HOUR_MS, sessions: 1 }
  // Every fifth one has a filter, which costs a statement.
  const filter = index % 5 === 0 ? { tag: 'production' } : {}
  const body = JSON.stringify({ name: `rule ${index}`, condition, filter })
  const { status, text } = await api.send('POST', '/api/monitors', body)
  if (status !== 201) throw new Error(`POST /api/monitors: ${status} ${text}`)
}

async function measurePreviews(directory: string, sessions: number, progress: Progress): Promise<Figure[]> {
  return withFilledServer(directory, { sessions, scoresEach: 1 }, progress, async ({ api }) => {
    const figures: Figure[] = []
    for (const [what, condition] of Object.entries(previewed))
      figures.push(
        await measure(`preview over 30 days, ${what}, p95`, targets.monitorPreview, progress, (index) =>
          preview(api, condition, index),
        ),
      )
    figures.push(...(await measureLists(api, `${sessions.toLocaleString('en-US')} sessions`, progress)))
    return figures
  })
}

async function measureScores(directory: string, content: Content, progress: Progress): Promise<Figure[]> {
  const { sessions, scoresEach } = content
  const shape = `${sessions.toLocaleString('en-US')} sessions with ${scoresEach} scores each`
  return withFilledServer(directory, content, progress, ({ api }) => measureLists(api, shape, progress))
}

/** However a million scores are spread over sessions, the targets of queries hold. */
async function measureLists(api: Api, shape: string, progress: Progress): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [what, path, target] of scored)
    figures.push(await measure(`${what}, ${shape}, p95`, target, progress, (index) => api.get(path(index))))
  return figures
}

type Content = { sessions: number; scoresEach: number }

async function withFilledServer(
  directory: string,
  content: Content,
  progress: Progress,
  measureAll: (server: BenchServer) => Promise<Figure[]>,
): Promise<Figure[]> {
  const marker = join(directory, `bench-watch-${content.sessions}-${content.scoresEach}.json`)
  if (!existsSync(marker)) {
    const store = await connectStore({ path: join(directory, 'store'), report: () => undefined })
    try {
      await fillScoredSessions(store.client, content, progress)
    } finally {
      await store.close()
    }
    writeFileSync(marker, JSON.stringify(content))
  }
  const server = await startBenchServer(directory)
  try {
    await waitForMerges(server.api, progress)
    return await measureAll(server)
  } finally {
    await server.stop()
  }
}

const previewed: Readonly<Record<string, object>> = {
  'failure rate': {
    kind: 'rate',
    measure: 'failure-rate',
    is: 'above',
    limit: 0.1,
    windowMs: HOUR_MS,
    minimum: 20,
  },
  p95: { kind: 'rate', measure: 'p95', is: 'above', limit: 8_000, windowMs: HOUR_MS, minimum: 20 },
  'cost against the week before': {
    kind: 'rate',
    measure: 'cost',
    is: 'above',
    limit: 0.5,
    isChange: true,
    windowMs: 24 * HOUR_MS,
    minimum: 20,
  },
  'mean score': {
    kind: 'rate',
    measure: 'score',
    score: 'helpful',
    is: 'below',
    limit: 0.4,
    windowMs: HOUR_MS,
    minimum: 20,
  },
  'a rule about order': {
    kind: 'rule',
    rule: { kind: 'never', action: 'issue_refund', before: 'session_complete' },
    windowMs: HOUR_MS,
    sessions: 5,
  },
  silence: { kind: 'silence', windowMs: HOUR_MS / 2 },
}

/** Another filter each time, because the server remembers answers. */
async function preview(api: Api, condition: object, index: number): Promise<void> {
  const filter = index % 2 === 0 ? {} : { duration: `>${index}ms` }
  const body = JSON.stringify({ name: 'preview', condition, filter })
  const { status, text } = await api.send('POST', '/api/monitors/preview', body)
  if (status !== 200) throw new Error(`POST /api/monitors/preview: ${status} ${text}`)
}

const scored: readonly [what: string, path: (index: number) => string, target: Target][] = [
  [
    'list by score',
    (index) => `/api/sessions?score=helpful%3E%3D0.${index % 10}&limit=50`,
    targets.listFilteredP95,
  ],
  [
    'list sorted by score',
    (index) => `/api/sessions?sort=score:helpful&limit=${40 + index}`,
    targets.listFilteredP95,
  ],
  [
    'statistics of a score by day, 30 days',
    (index) =>
      `/api/stats?scoreName=helpful&interval=day&from=${Date.now() - 30 * 24 * HOUR_MS + index * 61_000}`,
    targets.dailyStatsP95,
  ],
]

async function measure(
  what: string,
  target: Target,
  progress: Progress,
  send: (index: number) => Promise<unknown>,
): Promise<Figure> {
  const times: number[] = []
  for (let index = 0; index < WARM_UP_REQUESTS + MEASURED_REQUESTS; index += 1) {
    progress.show(what, index / (WARM_UP_REQUESTS + MEASURED_REQUESTS))
    const startedAtMs = performance.now()
    await send(index)
    if (index >= WARM_UP_REQUESTS) times.push(performance.now() - startedAtMs)
  }
  return {
    what,
    figure: percentile(times, 0.95),
    unit: 'ms',
    target,
    note: `p50 ${percentile(times, 0.5).toFixed(0)} ms`,
  }
}
