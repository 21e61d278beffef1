import { join } from 'node:path'
import { connectStore, type Store } from '../../packages/server/src/store/connect.ts'
import { RequestBodies } from '../corpus/request-bodies.ts'
import type { Api } from '../harness/api.ts'
import { withDataDirectory } from '../harness/data-directory.ts'
import { describeMachine } from '../harness/machine.ts'
import type { Options } from '../harness/options.ts'
import { percentile } from '../harness/percentile.ts'
import type { Progress } from '../harness/progress.ts'
import type { Figure, Report } from '../harness/report.ts'
import { targets, type Target } from '../harness/targets.ts'
import { startBenchServer } from '../server/bench-server.ts'
import { fillSessions } from '../server/fill-sessions.ts'
import { saturate } from '../server/load.ts'
import { UsageMeter } from '../server/usage-meter.ts'
import { waitForMerges, waitForStore } from '../server/wait-for-store.ts'

const RULES = 100
/** Runs with and without rules take turns, so that whatever else the machine does hits both. */
const PAIRS = 3
const CONNECTIONS = 16
const BODIES = 200
const WARM_UP_REQUESTS = 2
const MEASURED_REQUESTS = 15
const HOUR_MS = 3_600_000

/** What monitors cost while spans arrive, previews over 30 days, and lists and statistics of scores. */
export async function runWatchSuite(options: Options, progress: Progress): Promise<Report> {
  const machine = describeMachine()
  const ingest = await measureRules(options, progress)
  const queries = await withDataDirectory(options.data, (directory) =>
    measureQueries(directory, options.spans, progress),
  )
  return {
    suite: `watch, ${options.spans.toLocaleString('en-US')} sessions`,
    machine,
    figures: [...ingest, ...queries],
  }
}

type IngestRun = { spansPerSecond: number; cpuPerSpan: number }

async function measureRules({ seconds }: Options, progress: Progress): Promise<Figure[]> {
  const bodies = new RequestBodies({
    format: 'protobuf',
    count: BODIES,
    seed: 1,
    onProgress: (share) => progress.show('encoding requests', share),
  })
  const phase = Math.max(5, seconds / 3)
  const [without, withRules]: [IngestRun[], IngestRun[]] = [[], []]
  for (let pair = 0; pair < PAIRS; pair += 1) {
    without.push(await ingest(0, { bodies, seconds: phase, progress }))
    withRules.push(await ingest(RULES, { bodies, seconds: phase, progress }))
  }
  const median = (runs: readonly IngestRun[], of: keyof IngestRun) =>
    percentile(
      runs.map((run) => run[of]),
      0.5,
    )
  const rate = median(withRules, 'spansPerSecond') / median(without, 'spansPerSecond')
  const cpu = median(withRules, 'cpuPerSpan') / median(without, 'cpuPerSpan')
  const listed = (runs: readonly IngestRun[]) =>
    runs.map(({ spansPerSecond }) => Math.round(spansPerSecond).toLocaleString('en-US')).join(', ')
  return [
    {
      what: `ingest without rules, median of ${PAIRS}`,
      figure: median(without, 'spansPerSecond'),
      unit: 'spans/s',
      note: listed(without),
    },
    {
      what: `ingest with ${RULES} rules, median of ${PAIRS}`,
      figure: median(withRules, 'spansPerSecond'),
      unit: 'spans/s',
      note: listed(withRules),
    },
    {
      what: `spans lost to ${RULES} rules`,
      figure: (1 - rate) * 100,
      unit: '%',
      target: targets.rulesIngestShare,
      note: `saturated, ${phase.toFixed(0)} s each, taking turns; CPU per span ${((cpu - 1) * 100).toFixed(1)}% more`,
    },
  ]
}

/** Saturates a new server for some seconds. */
async function ingest(
  rules: number,
  { bodies, seconds, progress }: { bodies: RequestBodies; seconds: number; progress: Progress },
): Promise<IngestRun> {
  return withDataDirectory(undefined, async (directory) => {
    const server = await startBenchServer(directory)
    try {
      for (let index = 0; index < rules; index += 1) await createRule(server.api, index)
      const meter = new UsageMeter(server)
      const result = await saturate({
        url: server.url,
        bodies,
        format: 'protobuf',
        connections: CONNECTIONS,
        seconds,
        onProgress: (share) => progress.show(`ingest with ${rules} rules`, share),
      })
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

async function measureQueries(directory: string, sessions: number, progress: Progress): Promise<Figure[]> {
  const store = await connectStore({ path: join(directory, 'store'), report: () => undefined })
  try {
    await fillSessions(store.client, sessions, progress)
    // They are made to be searched, not to be read.
    await store.client.command({ query: 'TRUNCATE TABLE steps' })
    await addScores(store, progress)
  } finally {
    await store.close()
  }
  const server = await startBenchServer(directory)
  try {
    await waitForMerges(server.api, progress)
    const figures: Figure[] = []
    for (const [what, condition] of Object.entries(previewed))
      figures.push(
        await measure(`preview over 30 days, ${what}, p95`, targets.monitorPreview, progress, (index) =>
          preview(server.api, condition, index),
        ),
      )
    for (const [what, path, target] of scored)
      figures.push(await measure(`${what}, p95`, target, progress, (index) => server.api.get(path(index))))
    return figures
  } finally {
    await server.stop()
  }
}

/** One score for each session. */
async function addScores({ client }: Store, progress: Progress): Promise<void> {
  const digits = Array.from({ length: 16 }, (_, index) => index.toString(16))
  for (const [done, digit] of digits.entries()) {
    progress.show('adding scores', done / digits.length)
    await client.command({
      query: `INSERT INTO sessions SELECT * REPLACE (2 AS version, ['helpful'] AS score_names,
          [CAST(cityHash64(session_id) % 100 / 100, 'Nullable(Float64)')] AS score_numbers, [''] AS score_words,
          concat('[{"id":"', session_id, '","name":"helpful","value":', toString(cityHash64(session_id) % 100 / 100), ',"source":"model","at":"2026-01-01T00:00:00.000Z"}]') AS scores)
        FROM sessions FINAL WHERE startsWith(session_id, {digit:String})`,
      query_params: { digit },
    })
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
