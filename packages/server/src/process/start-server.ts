import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import type { Site } from '../access/addresses.ts'
import { isIngestPath } from '../access/origin-guard.ts'
import { createApp, createAppDestination } from '../api/app.ts'
import { createClientErrorHandler } from '../door/answer-client-error.ts'
import { createDoor } from '../door/door.ts'
import { KnownError } from '../errors/known-error.ts'
import { startGrpc, type TlsSource } from '../ingest/grpc/start-grpc.ts'
import { createIngestHandler } from '../ingest/http/ingest-handler.ts'
import { addMcpRoutes } from '../mcp/mcp-routes.ts'
import { recomputeSessions } from '../maintenance/session-batches.ts'
import { startRetention } from '../maintenance/retention.ts'
import { DamagedFiles } from '../log/damaged-files.ts'
import { connectStore } from '../store/connect.ts'
import type { Config } from './config.ts'
import { asDataProblem } from './data-problem.ts'
import { lockDataDirectory } from './data-lock.ts'
import { protectData } from './protect-data.ts'
import { createServices, type Services } from './services.ts'
import { openTls } from './tls-identity.ts'

export type RunningServer = {
  url: string
  /** The `host:port` of OTLP/gRPC; undefined while it is off. */
  grpcAddress: string | undefined
  services: Services
  stop(): Promise<void>
}

/** Starts everything in the order of dependencies; `stop` ends it in reverse. */
export async function startServer(config: Config, report: (line: string) => void): Promise<RunningServer> {
  const url = `${config.tls === undefined ? 'http' : 'https'}://${config.host.includes(':') ? `[${config.host}]` : config.host}:${config.port}`
  const cleanups: (() => unknown)[] = []
  const stop = async () => {
    for (const cleanUp of cleanups.toReversed()) await cleanUp()
  }
  try {
    const tls = config.tls === undefined ? undefined : openTls(config.tls, report)
    cleanups.push(() => tls?.close())
    const services = await openData(config, url, report, cleanups).catch((error: unknown) => {
      throw asDataProblem(error, config)
    })
    cleanups.push(startRetention(services))
    const { repair } = services.store
    if (repair !== undefined)
      cleanups.push(
        repair.start({
          sessions: () => recomputeSessions(services),
          words: () => services.words.buildAgain(),
        }),
      )
    const server = await listen(services, tls)
    cleanups.push(() => {
      server.close()
      server.closeAllConnections()
    })
    const address = server.address()
    if (typeof address === 'object' && address !== null) services.site.port = address.port
    const grpcAddress = await listenForGrpc(services, { ...config, tls }, cleanups)
    return { url: url.replace(/:\d+$/, `:${services.site.port}`), grpcAddress, services, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Locks the data folder and opens what is in it. */
async function openData(
  config: Config,
  url: string,
  report: (line: string) => void,
  cleanups: (() => unknown)[],
): Promise<Services> {
  const { isAuthOn, publicUrl } = config
  const holder = { pid: process.pid, url: publicUrl ?? url, startedAt: new Date().toISOString(), isAuthOn }
  protectData(config.dataDirectory, report)
  const lock = await lockDataDirectory(config.dataDirectory, holder)
  cleanups.push(() => lock.release())
  const damaged = await DamagedFiles.open(join(config.dataDirectory, 'damaged'), report)
  const store = await connectStore({
    path: join(config.dataDirectory, 'store'),
    clickhouseUrl: config.clickhouseUrl,
    cluster: config.clickhouseCluster,
    damaged,
    report,
  })
  cleanups.push(() => store.close())
  return createServices(config, { store, damaged }, report, cleanups)
}

async function listen(services: Services, tls: TlsSource | undefined) {
  const { gate, site, bodyLimits } = services
  const app = createApp(services, (routes) => addMcpRoutes(routes, services))
  const handleApi = getRequestListener((request, bindings) => app.fetch(request, bindings), {
    overrideGlobalObjects: false,
  })
  const toApp = createAppDestination(services, handleApi)
  const toIngest = createIngestHandler(ingestOptions(services))
  const enter = createDoor({
    site,
    isAuthOn: () => gate.isAuthOn,
    limits: bodyLimits,
    destinationOf: (pathname) => (isIngestPath(pathname) ? toIngest : toApp),
  })
  const server = createHttpServer(tls, (request, response) => void enter(request, response))
  server.on('clientError', createClientErrorHandler(connectionLimits.headersTimeout))
  // Sent before a body, to ask whether it is wanted: the door says so.
  server.on('checkContinue', (request, response) => void enter(request, response))
  server.listen(site.port, site.host)
  try {
    await once(server, 'listening')
  } catch (error) {
    throw listenError(error as NodeJS.ErrnoException, site)
  }
  return server
}

/** The head of a request may have 16 KB and take 20 seconds. How long a body may take is up to the door. */
const connectionLimits = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 20_000,
  connectionsCheckingInterval: 5_000,
  requestTimeout: 0,
  keepAliveTimeout: 65_000,
}
const HANDSHAKE_TIMEOUT_MS = 10_000

function createHttpServer(tls: TlsSource | undefined, listener: RequestListener) {
  if (tls === undefined) return createServer(connectionLimits, listener)
  const options = { ...connectionLimits, ...tls.current(), handshakeTimeout: HANDSHAKE_TIMEOUT_MS }
  const server = createSecureServer(options, listener)
  tls.onRenewed((pair) => server.setSecureContext(pair))
  return server
}

/** If the port is taken, only gRPC is off. */
async function listenForGrpc(
  services: Services,
  { host, grpcPort, tls }: Pick<Config, 'host' | 'grpcPort'> & { tls: TlsSource | undefined },
  cleanups: (() => unknown)[],
): Promise<string | undefined> {
  if (grpcPort === undefined) return undefined
  try {
    const grpc = await startGrpc(ingestOptions(services), { host, port: grpcPort, tls })
    cleanups.push(() => grpc.stop())
    return grpc.address
  } catch (error) {
    services.report(
      `OTLP/gRPC is off: port ${grpcPort} on ${host} cannot be used (${grpcFault(error)}). OTLP/HTTP works. Choose another port with PLAYHEAD_GRPC_PORT=4320, or turn it off with PLAYHEAD_GRPC_PORT=off.`,
    )
    return undefined
  }
}

function ingestOptions({ pipeline, gate, bodyLimits, counters, report }: Services) {
  return { pipeline, gate, limits: bodyLimits, diagnostics: { counters, report } }
}

function grpcFault(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return /\b(E[A-Z]{3,})\b/.exec(message)?.[1] ?? message.split('\n', 1)[0]!
}

function listenError(error: NodeJS.ErrnoException, { host, port }: Site): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new KnownError(
        'PORT_IN_USE',
        `Port ${port} on ${host} is in use by another program (an OpenTelemetry Collector uses 4318 by default). Stop it, or choose another port with PLAYHEAD_PORT=4319 (playhead serve --port 4319).`,
        { cause: error },
      )
    case 'EACCES':
      return new KnownError(
        'ADDRESS_UNAVAILABLE',
        `This user may not listen on port ${port}. Choose a port above 1023 with PLAYHEAD_PORT=4318 (playhead serve --port 4318).`,
        { cause: error },
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new KnownError(
        'ADDRESS_UNAVAILABLE',
        `${host} is not an address of this machine. Set PLAYHEAD_HOST (playhead serve --host) to one, for example 127.0.0.1.`,
        { cause: error },
      )
    default:
      return error
  }
}
