import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { authorize, type Caller, type Gate } from '../access/caller.ts'
import { callerOf, requirePerson } from '../access/request-project.ts'
import { KnownError } from '../errors/known-error.ts'
import type { BodyBudget } from '../door/body-budget.ts'
import type { Counters } from '../ingest/counters.ts'
import type { IngestPipeline } from '../ingest/ingest-batch.ts'
import type { DamagedFiles } from '../log/damaged-files.ts'
import type { ServerNodes } from '../nodes/server-nodes.ts'
import { readDisk } from '../query/disk-use.ts'
import type { Store } from '../store/connect.ts'
import type { WordBuilder } from '../store/word-builder.ts'
import { renderMonitorStates, type SessionMetrics } from '../monitors/session-metrics.ts'
import type { MonitorStore } from '../monitors/monitor-store.ts'
import { jsonRoute } from './route-parts.ts'
import { VERSION } from './version.ts'

const healthRoute = createRoute({
  ...jsonRoute('GET /api/health', 'The figures'),
  summary: 'What the server is doing: spans received, rows waiting for the store, disk use',
})

type Observed = {
  pipeline: IngestPipeline
  store: Store
  words: WordBuilder
  nodes: ServerNodes
  budget: BodyBudget
  damaged: DamagedFiles
}

type Watched = { monitors: MonitorStore; sessionMetrics: SessionMetrics }

export function addHealthRoutes(
  app: OpenAPIHono,
  { gate, dataDirectory, ...observed }: Observed & Watched & { gate: Gate; dataDirectory: string },
): void {
  const { client } = observed.store
  const { counters, dialectFailures } = observed.pipeline
  // Anyone may ask, so everyone who asks at the same time gets the answer to one question.
  let asking: Promise<unknown> | undefined
  const askStore = () =>
    (asking ??= client
      .query({ query: 'SELECT 1', format: 'JSONEachRow' })
      .then((result) => result.text())
      .finally(() => (asking = undefined)))
  app.get('/healthz', (context) => context.text('ok\n'))
  app.get('/readyz', async (context) => {
    try {
      await askStore()
    } catch (error) {
      throw new KnownError(
        'STORE_UNAVAILABLE',
        'The store does not respond. New spans are kept in the log until it does.',
        { cause: error },
      )
    }
    return context.text('ready\n')
  })
  app.get('/metrics', (context) =>
    context.text(
      renderMetrics(counters, readGauges(observed), dialectFailures.counts) +
        renderWatched(observed, readableBy(context, gate)),
    ),
  )
  app.openapi(healthRoute, async (context) => {
    requirePerson(context, gate)
    const { pendingRows, rowsWithoutWords, engineRestarts, liveViewers } = readGauges(observed)
    return context.json(
      {
        version: VERSION,
        uptimeMs: Math.round(performance.now() - counters.startedAtMs),
        spansStored: counters.spansStored,
        spansRejected: counters.spansRejected,
        logsStored: counters.logsStored,
        pendingRows,
        rowsWithoutWords,
        engineRestarts,
        liveViewers,
        servers: [...observed.nodes.list()],
        damagedFiles: [...observed.damaged.list()],
        badRows: { count: observed.store.badRows.count, rows: observed.store.badRows.list() },
        disk: await readDisk(client, dataDirectory),
      },
      200,
    )
  })
}

/** Which projects the caller may read. Counts without names are for anyone; what has names needs a key or a login. */
function readableBy(context: Context, gate: Gate): (project: string) => boolean {
  const caller = identified(context, gate)
  return (project) => {
    if (caller === undefined) return false
    try {
      return authorize(caller, 'read', project, gate.registry) === project
    } catch {
      // "other" is no project: it sums up many, for whoever may read all of them.
      return caller.kind === 'anyone' || (caller.kind === 'person' && caller.person === undefined)
    }
  }
}

function identified(context: Context, gate: Gate): Caller | undefined {
  try {
    return callerOf(context, gate)
  } catch {
    return undefined
  }
}

function renderWatched({ monitors, sessionMetrics }: Watched, mayRead: (project: string) => boolean): string {
  const watched = monitors.all().filter(({ project }) => mayRead(project))
  return [...sessionMetrics.render(mayRead), ...renderMonitorStates(watched)]
    .map((line) => `${line}\n`)
    .join('')
}

function readGauges({ pipeline, store, words, nodes, budget, damaged }: Observed) {
  const damagedFiles = damaged.list()
  const [steps, logs] = [pipeline.steps.state(), pipeline.logs.state()]
  return {
    pendingRows: steps.pendingRows + logs.pendingRows,
    pendingBytes: steps.pendingBytes + logs.pendingBytes,
    pendingSegments: steps.segments + logs.segments,
    flushFailures: steps.flushFailures + logs.flushFailures,
    rowsWithoutWords: words.waitingRows,
    badRows: store.badRows.count,
    engineRestarts: store.engine?.restarts ?? 0,
    liveViewers: pipeline.live.viewerCount,
    servers: Math.max(1, nodes.list().length),
    isLeader: nodes.isLeader() ? 1 : 0,
    damagedFiles: damagedFiles.length,
    damagedRows: damagedFiles.reduce((sum, { rows }) => sum + (rows ?? 0), 0),
    bytesInFlight: budget.bytesInFlight,
    residentBytes: process.memoryUsage.rss(),
  }
}

/** In the text format of Prometheus. */
export function renderMetrics(
  counters: Counters,
  gauges: ReturnType<typeof readGauges>,
  dialectFailures: ReadonlyMap<string, number>,
): string {
  const metrics: [name: string, type: 'counter' | 'gauge', help: string, value: number][] = [
    ['spans_stored_total', 'counter', 'Spans acknowledged.', counters.spansStored],
    ['spans_rejected_total', 'counter', 'Spans rejected in a partial success.', counters.spansRejected],
    ['logs_stored_total', 'counter', 'Log records acknowledged.', counters.logsStored],
    ['logs_rejected_total', 'counter', 'Log records rejected.', counters.logsRejected],
    ['requests_refused_total', 'counter', 'Responses with a 4xx or 503.', counters.requestsRefused],
    ['failures_total', 'counter', 'Responses with a 500, which are bugs.', counters.failures],
    ['log_pending_rows', 'gauge', 'Acknowledged rows that are not in the store yet.', gauges.pendingRows],
    ['log_pending_bytes', 'gauge', 'Bytes of these rows on disk.', gauges.pendingBytes],
    ['log_pending_segments', 'gauge', 'Files of these rows.', gauges.pendingSegments],
    ['rows_without_words', 'gauge', 'Rows that searches have to read themselves.', gauges.rowsWithoutWords],
    ['log_flush_failures_total', 'counter', 'Failed flushes of a segment.', gauges.flushFailures],
    ['engine_restarts_total', 'counter', 'Restarts of the embedded engine.', gauges.engineRestarts],
    ['damaged_files', 'gauge', 'Damaged files of the log and the store.', gauges.damagedFiles],
    ['damaged_rows', 'gauge', 'Rows in them that are known to be lost.', gauges.damagedRows],
    ['bad_rows_total', 'counter', 'Rows of the store that could not be read.', gauges.badRows],
    ['live_viewers', 'gauge', 'Open live connections.', gauges.liveViewers],
    ['servers', 'gauge', 'Servers that share the store, this one included.', gauges.servers],
    ['is_leader', 'gauge', '1 on the server that runs retention and monitors.', gauges.isLeader],
    ['request_bytes_in_flight', 'gauge', 'Bytes of request bodies in memory.', gauges.bytesInFlight],
    ['resident_bytes', 'gauge', 'Resident memory, without the engine.', gauges.residentBytes],
  ]
  const lines = metrics.flatMap(([name, type, help, value]) => [
    `# HELP playhead_${name} ${help}`,
    `# TYPE playhead_${name} ${type}`,
    `playhead_${name} ${value}`,
  ])
  lines.push(
    '# HELP playhead_dialect_failures_total Spans on which a dialect threw, which are bugs.',
    '# TYPE playhead_dialect_failures_total counter',
  )
  for (const [dialect, count] of dialectFailures)
    lines.push(`playhead_dialect_failures_total{dialect="${dialect}"} ${count}`)
  return `${lines.join('\n')}\n`
}
