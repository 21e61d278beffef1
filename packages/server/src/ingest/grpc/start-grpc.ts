import { once } from 'node:events'
import {
  constants,
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { projectToSendTo, type Gate } from '../../access/caller.ts'
import { networkOf, plainAddress } from '../../access/client-address.ts'
import { openBudgetShare, type BodyLimits, type BudgetShare } from '../../door/body-budget.ts'
import { UPLOAD_ARRIVAL_MS } from '../../door/body-limits.ts'
import { findInflater, inflateBody } from '../../door/inflate-body.ts'
import { receiveBytes } from '../../door/read-body.ts'
import { KnownError } from '../../errors/known-error.ts'
import type { Diagnostics } from '../counters.ts'
import { ingestLogs, ingestSpans, type IngestPipeline } from '../ingest-batch.ts'
import { decodeProtobufLogs } from '../otlp-protobuf/protobuf-logs.ts'
import { encodeProtobufResponse } from '../otlp-protobuf/protobuf-responses.ts'
import { decodeProtobufTraces } from '../otlp-protobuf/protobuf-traces.ts'
import type { Rejection } from '../rejection.ts'
import { GRPC_OK, GRPC_UNIMPLEMENTED, toGrpcStatus, type GrpcStatus } from './grpc-status.ts'

/** `address` is the `host:port` it listens on. */
export type GrpcServer = { address: string; stop(): void }

/** A certificate (or chain) and its key, in PEM format. */
export type TlsPair = { cert: Buffer; key: Buffer }

/** The pair to use, and the one that replaces it when it is renewed. */
export type TlsSource = { current(): TlsPair; onRenewed(listener: (pair: TlsPair) => void): void }

export type GrpcOptions = {
  pipeline: IngestPipeline
  gate: Gate
  limits: BodyLimits
  diagnostics: Diagnostics
}

/** Per connection: a sender has a handful of requests open, and their headers are short. */
const settings = { maxConcurrentStreams: 64, maxHeaderListSize: 16 * 1024 }

/** How long a connection may be silent: before its first call with a key, and after it. */
const STRANGER_IDLE_MS = 20_000
const SENDER_IDLE_MS = 600_000
const HANDSHAKE_TIMEOUT_MS = 10_000

/** Messages of OTLP are protobuf. */
const GRPC_TYPE = /^application\/grpc(\+proto)?($|;)/i

/** In front of every message: whether it is compressed, and its length. */
const PREFIX_BYTES = 5

type Ingest = (project: string, body: Buffer) => Promise<Rejection[]>

/**
 * Starts OTLP over gRPC. Spans and log records go the same way as over HTTP. It speaks the part of gRPC that OTLP uses,
 * one message each way, because a library hands over a message only once it is whole: here it counts against the budget
 * as it arrives, and nothing is read of a call without a key.
 */
export async function startGrpc(
  options: GrpcOptions,
  { host, port, tls }: { host: string; port: number; tls: TlsSource | undefined },
): Promise<GrpcServer> {
  const { pipeline } = options
  const services: Readonly<Record<string, Ingest>> = {
    [pathOf('trace', 'Trace')]: (project, body) =>
      ingestSpans(pipeline, project, () => decodeProtobufTraces(body), { bytes: body.length }),
    [pathOf('logs', 'Logs')]: (project, body) =>
      ingestLogs(pipeline, project, () => decodeProtobufLogs(body), { bytes: body.length }),
    // Metrics are accepted and dropped, as over HTTP.
    [pathOf('metrics', 'Metrics')]: async () => [],
  }
  const server = createHttp2Server(tls)
  const sessions = new Set<ServerHttp2Session>()
  server.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
    session.setTimeout(STRANGER_IDLE_MS, () => session.close())
  })
  server.on('stream', (stream, headers) => void answerCall(stream, headers, services, options))
  server.listen(port, host)
  await once(server, 'listening')
  const name = host.includes(':') ? `[${host}]` : host
  const stop = () => {
    server.close()
    for (const session of sessions) session.destroy()
  }
  return { address: `${name}:${(server.address() as AddressInfo).port}`, stop }
}

function createHttp2Server(tls: TlsSource | undefined): Http2Server | Http2SecureServer {
  if (tls === undefined) return createServer({ settings })
  const server = createSecureServer({ settings, ...tls.current(), handshakeTimeout: HANDSHAKE_TIMEOUT_MS })
  tls.onRenewed((pair) => server.setSecureContext(pair))
  return server
}

function pathOf(folder: string, name: string): string {
  return `/opentelemetry.proto.collector.${folder}.v1.${name}Service/Export`
}

async function answerCall(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  services: Readonly<Record<string, Ingest>>,
  { gate, limits, diagnostics }: GrpcOptions,
): Promise<void> {
  // The client is gone; reading or writing ends with the same error.
  stream.on('error', () => {})
  if (headers[':method'] !== 'POST' || !GRPC_TYPE.test(headers['content-type'] ?? ''))
    return stream.respond({ ':status': 415 }, { endStream: true })
  const deadline = setTimeout(() => fail(stream, toGrpcStatus(tooSlow(), diagnostics)), UPLOAD_ARRIVAL_MS)
  let share: BudgetShare | undefined
  try {
    const path = headers[':path'] ?? ''
    const ingest = Object.hasOwn(services, path) ? services[path] : undefined
    if (ingest === undefined) return fail(stream, unknownCall(path))
    const address = plainAddress(stream.session?.socket.remoteAddress ?? '')
    const project = projectToSendTo((name) => [headers[name]].flat()[0], 'ingest', gate, address)
    stream.session?.setTimeout(SENDER_IDLE_MS)
    share = openBudgetShare(limits.budget, [networkOf(address), `project "${project}"`])
    const body = await receiveMessage(stream, headers['grpc-encoding'], { ...limits, share })
    clearTimeout(deadline)
    succeed(stream, encodeProtobufResponse(await ingest(project, body)))
  } catch (error) {
    fail(stream, toGrpcStatus(error, diagnostics))
  } finally {
    clearTimeout(deadline)
    share?.release()
  }
}

async function receiveMessage(
  stream: ServerHttp2Stream,
  encoding: string | string[] | undefined,
  { maxBytes, ...limits }: Omit<BodyLimits, 'budget'> & { share: BudgetShare },
): Promise<Buffer> {
  const bytes = (await receiveBytes(stream, maxBytes + PREFIX_BYTES, limits.share)).whole()
  const message = bytes.subarray(PREFIX_BYTES)
  if (bytes.length < PREFIX_BYTES || bytes.readUInt32BE(1) !== message.length || bytes[0]! > 1)
    throw new KnownError('BAD_REQUEST', 'The call must contain one whole message.')
  if (bytes[0] === 0) return message
  const inflater = findInflater([encoding].flat()[0])
  if (inflater === null)
    throw new KnownError('BAD_REQUEST', 'The message is compressed, but grpc-encoding does not say how.')
  return inflateBody(message, inflater, limits)
}

function succeed(stream: ServerHttp2Stream, message: Buffer): void {
  if (stream.headersSent || stream.destroyed) return
  const frame = Buffer.alloc(PREFIX_BYTES + message.length)
  frame.writeUInt32BE(message.length, 1)
  message.copy(frame, PREFIX_BYTES)
  stream.respond({ 'content-type': 'application/grpc+proto' }, { waitForTrailers: true })
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(GRPC_OK) }))
  stream.end(frame)
}

/** Refuses a call and tells the client to stop sending. */
function fail(stream: ServerHttp2Stream, { code, details }: GrpcStatus): void {
  if (stream.headersSent || stream.destroyed) return
  stream.respond(
    {
      'content-type': 'application/grpc+proto',
      'grpc-status': String(code),
      'grpc-message': encodeURI(details.slice(0, 1_000).toWellFormed()),
      'grpc-accept-encoding': 'identity,gzip,deflate',
    },
    { endStream: true },
  )
  stream.close(constants.NGHTTP2_NO_ERROR)
}

function unknownCall(path: string): GrpcStatus {
  return {
    code: GRPC_UNIMPLEMENTED,
    details: `There is no ${path.slice(0, 200)}: send OTLP traces, logs or metrics.`,
  }
}

function tooSlow(): KnownError {
  return new KnownError(
    'REQUEST_TOO_SLOW',
    `The request did not arrive within ${UPLOAD_ARRIVAL_MS / 1_000} seconds: send smaller batches.`,
  )
}
