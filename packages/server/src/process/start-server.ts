import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { summarizeSession } from '@playhead/model'
import { guardOrigin, isIngestPath } from '../access/origin-guard.ts'
import { Registry } from '../access/registry.ts'
import { LoginCookies } from '../access/secrets.ts'
import { UploadedObjects } from '../store/uploaded-objects.ts'
import type { Config } from './config.ts'
import { lockDataDirectory } from './data-lock.ts'
import { createApp } from '../api/app.ts'
import { handleIngest } from '../ingest/http/ingest-handler.ts'
import { answerError, KnownError } from '../errors/known-error.ts'
import { setDeadline } from './request-deadline.ts'
import { writeEventStreams } from '../live/write-event-streams.ts'
import { createBodyBudget } from '../ingest/body-budget.ts'
import { MAX_BYTES_IN_FLIGHT } from '../ingest/limits.ts'
import { LiveFeed } from '../live/live-feed.ts'
import { SegmentLog } from '../log/segment-log.ts'
import type { Columns } from '../log/native-block.ts'
import { startRetention } from '../maintenance/retention.ts'
import { createCounters } from '../api/metrics.ts'
import { DialectFailures } from '../ingest/dialect-failures.ts'
import { firstSegmentId } from '../log/segment-ids.ts'
import { SessionReader } from '../sessions/session-reader.ts'
import type { Services } from './services.ts'
import { connectStore, type Store } from '../store/connect.ts'
import { DuplicateCalls } from '../sessions/duplicate-calls.ts'
import { flushSegment } from '../store/flush-segment.ts'
import { logColumns } from '../store/logs-table.ts'
import { SessionRefresher } from '../sessions/refresh-sessions.ts'
import { StoredLogs } from '../sessions/stored-logs.ts'
import { stepColumns } from '../store/steps-table.ts'

export type RunningServer = {
  url: string
  /** `host:port` where OTLP/gRPC is taken; undefined while it is off. */
  grpcAddress: string | undefined
  services: Services
  stop(): Promise<void>
}

/** How often a node looks for keys and projects that another node changed. */
const REGISTRY_RELOAD_MS = 5_000

/** Starts everything, in the order in which one thing needs the other; `stop` ends it in reverse. */
export async function startServer(config: Config, report: (line: string) => void): Promise<RunningServer> {
  const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${config.port}`
  const lock = await lockDataDirectory(config.dataDirectory, {
    pid: process.pid,
    url,
    startedAt: new Date().toISOString(),
  })
  const undo: (() => unknown)[] = [() => lock.release()]
  const stop = async () => {
    for (const step of undo.toReversed()) await step()
  }
  try {
    const store = await connectStore({
      path: join(config.dataDirectory, 'store'),
      clickhouseUrl: config.clickhouseUrl,
      cluster: config.clickhouseCluster,
      report,
    })
    undo.push(() => store.close())
    const services = await createServices(config, store, report, undo)
    undo.push(startRetention(services))
    const server = await listen(services)
    undo.push(() => {
      server.close()
      server.closeAllConnections()
    })
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : config.port
    services.config.port = port
    const grpcAddress = await listenForGrpc(services, undo)
    return { url: url.replace(/:\d+$/, `:${port}`), grpcAddress, services, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function createServices(
  config: Config,
  store: Store,
  report: (line: string) => void,
  undo: (() => unknown)[],
): Promise<Services> {
  const registry = await Registry.open(store.client)
  if (store.engine === undefined) {
    const timer = setInterval(
      () => void registry.reload().catch((error: Error) => report(error.message)),
      REGISTRY_RELOAD_MS,
    )
    undo.push(() => clearInterval(timer))
  }
  const live = new LiveFeed()
  const [duplicates, storedLogs] = await Promise.all([DuplicateCalls.open(store), StoredLogs.open(store)])
  const pricerOf = (project: string) => registry.pricerOf(project)
  const inbox = join(config.dataDirectory, 'inbox')
  // What a killed process left there is computed again from the steps.
  await rm(inbox, { recursive: true, force: true })
  const refresher = new SessionRefresher({
    store,
    directory: inbox,
    logs: storedLogs,
    duplicates,
    pricerOf,
    onRefreshed(project, steps, lastHeardAtMs) {
      const id = steps[0]?.sessionId
      if (id === undefined) return
      reader.forget(project, id)
      if (live.isWatched(project, id))
        live.publishSession(project, summarizeSession(steps, { nowMs: Date.now(), lastHeardAtMs }))
    },
  })
  const [steps, logs] = await openLogs(config, { store, storedLogs, refresher, report })
  undo.push(
    () => logs.close(),
    () => steps.close(),
  )
  const catchUp = async () => void (await Promise.all([steps.catchUp(), logs.catchUp()]))
  const drain = async () => void (await Promise.all([steps.drain(), logs.drain()]))
  const reader: SessionReader = new SessionReader({ store, logs: storedLogs, duplicates, pricerOf, catchUp })
  return {
    config: { ...config },
    store,
    storedLogs,
    registry,
    objects: new UploadedObjects(config.dataDirectory),
    cookies: config.password === undefined ? undefined : new LoginCookies(config.password),
    targets: { steps, logs, live, pricerOf, dialectFailures: new DialectFailures(report) },
    budget: createBodyBudget(Math.max(MAX_BYTES_IN_FLIGHT, 2 * config.maxBodyBytes)),
    live,
    reader,
    refresher,
    counters: createCounters(),
    catchUp,
    drain,
    report,
  }
}

async function openLogs(
  config: Config,
  tools: {
    store: Store
    storedLogs: StoredLogs
    refresher: SessionRefresher
    report: (line: string) => void
  },
) {
  const { store, storedLogs, refresher, report } = tools
  const root = join(config.dataDirectory, 'log')
  const firstId = firstSegmentId(root)
  const open = <Row>(name: 'steps' | 'logs', columns: Columns<Row>) =>
    SegmentLog.open({
      directory: join(root, name),
      columns,
      firstId,
      flush: (segment) => {
        if (name === 'logs') storedLogs.expectSome()
        return flushSegment(segment, { name, columns: Object.keys(columns) }, store, (...sessions) =>
          refresher.refresh(...sessions),
        )
      },
      report,
    })
  return Promise.all([open('steps', stepColumns), open('logs', logColumns)])
}

async function listen(services: Services) {
  const app = createApp(services)
  const answerApi = getRequestListener(
    writeEventStreams((request, bindings) => app.fetch(request, bindings)),
    { overrideGlobalObjects: false },
  )
  const server = createServer(
    { keepAliveTimeout: 65_000, requestTimeout: 0, headersTimeout: 60_000 },
    (request, response) => {
      setDeadline(request, response)
      try {
        guardOrigin(request, services.config)
      } catch (error) {
        return refuse(error, response)
      }
      if (isIngestPath(request.url ?? '')) void handleIngest(services, request, response)
      else void answerApi(request, response)
    },
  )
  const { host, port } = services.config
  server.listen(port, host)
  await Promise.race([
    once(server, 'listening'),
    once(server, 'error').then(([error]) => Promise.reject(listenError(error, host, port))),
  ])
  return server
}

/** A port that is taken costs gRPC only: everything else goes on. */
async function listenForGrpc(services: Services, undo: (() => unknown)[]): Promise<string | undefined> {
  const { host, grpcPort } = services.config
  if (grpcPort === undefined) return undefined
  // Loaded only where it is wanted.
  const { startGrpc } = await import('../ingest/grpc/start-grpc.ts')
  try {
    const grpc = await startGrpc(services, { host, port: grpcPort })
    undo.push(() => grpc.stop())
    return grpc.address
  } catch (error) {
    services.report(
      `OTLP/gRPC is off: port ${grpcPort} on ${host} is taken or can't be used (${grpcFault(error)}). OTLP/HTTP works. Choose another port: PLAYHEAD_GRPC_PORT=4320, or none: PLAYHEAD_GRPC_PORT=off.`,
    )
    return undefined
  }
}

function grpcFault(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return /\b(E[A-Z]{3,})\b/.exec(message)?.[1] ?? message.split('\n', 1)[0]!
}

function refuse(error: unknown, response: ServerResponse): void {
  if (!(error instanceof KnownError)) throw error
  const { status, headers, body } = answerError(error)
  response.writeHead(status, { ...headers, 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  if (error.code !== 'EADDRINUSE') return error
  return new KnownError(
    'PORT_IN_USE',
    `Port ${port} on ${host} is in use by another program (an OpenTelemetry Collector listens there too). Stop it, or choose another port: PLAYHEAD_PORT=4319.`,
  )
}
