import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
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
import type { Config } from './config.ts'
import type { Services } from './services.ts'

/** Listens for HTTP: the ingest, the API, and the pages. */
export async function listen(services: Services, tls: TlsSource | undefined) {
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
export async function listenForGrpc(
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
