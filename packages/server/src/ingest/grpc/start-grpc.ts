import {
  experimental,
  logVerbosity,
  Server,
  ServerCredentials,
  setLogVerbosity,
  type Metadata,
  type MethodDefinition,
  type sendUnaryData,
  type ServerUnaryCall,
} from '@grpc/grpc-js'
import { projectOfHeaders, type Gate } from '../../access/caller.ts'
import { openBudgetShare } from '../../door/body-budget.ts'
import type { Diagnostics } from '../counters.ts'
import type { BodyLimits } from '../../door/body-budget.ts'
import { ingestLogs, ingestSpans, type IngestPipeline } from '../ingest-batch.ts'
import { decodeProtobufLogs } from '../otlp-protobuf/protobuf-logs.ts'
import { encodeProtobufResponse } from '../otlp-protobuf/protobuf-responses.ts'
import { decodeProtobufTraces } from '../otlp-protobuf/protobuf-traces.ts'
import type { Rejection } from '../rejection.ts'
import { admitCalls } from './admit-calls.ts'
import { toGrpcStatus } from './grpc-status.ts'

/** `address` is the `host:port` it listens on. */
export type GrpcServer = { address: string; stop(): void }

/** A certificate (or chain) and its key, in PEM format. */
export type TlsPair = { cert: Buffer; key: Buffer }

/** The pair to use, and the one that replaces it when it is renewed. */
export type TlsSource = { current(): TlsPair; onRenewed(listener: (pair: TlsPair) => void): void }

/** Per connection; a sender has a handful of requests open. */
const MAX_CONCURRENT_STREAMS = 64

export type GrpcOptions = {
  pipeline: IngestPipeline
  gate: Gate
  limits: BodyLimits
  diagnostics: Diagnostics
}

/** Starts OTLP over gRPC. Spans and log records go the same way as over HTTP. */
export async function startGrpc(
  options: GrpcOptions,
  { host, port, tls }: { host: string; port: number; tls: TlsSource | undefined },
): Promise<GrpcServer> {
  const { pipeline, gate, diagnostics } = options
  // Everything that it logs reaches us as an error as well.
  setLogVerbosity(logVerbosity.NONE)
  const server = new Server({
    'grpc.max_receive_message_length': options.limits.maxBytes,
    'grpc.max_concurrent_streams': MAX_CONCURRENT_STREAMS,
    interceptors: [admitCalls((metadata) => projectOf(metadata, gate), diagnostics)],
  })
  const add = (folder: string, name: string, ingest: Ingest) =>
    server.addService({ export: exportMethod(folder, name) }, { export: handleExport(options, ingest) })
  add('trace', 'Trace', (project, body) => ingestSpans(pipeline, project, () => decodeProtobufTraces(body)))
  add('logs', 'Logs', (project, body) => ingestLogs(pipeline, project, () => decodeProtobufLogs(body)))
  // Metrics are accepted and dropped, as over HTTP.
  add('metrics', 'Metrics', async () => [])
  const name = host.includes(':') ? `[${host}]` : host
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`${name}:${port}`, credentialsOf(tls), (error, boundPort) => {
      if (error === null) resolve(boundPort)
      else reject(error)
    })
  })
  return { address: `${name}:${bound}`, stop: () => server.forceShutdown() }
}

function credentialsOf(tls: TlsSource | undefined): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure()
  const provider = {
    addIdentityCertificateListener(listener: experimental.IdentityCertificateUpdateListener) {
      const update = ({ cert, key }: TlsPair) => listener({ certificate: cert, privateKey: key })
      // The credentials start to pass updates on only after they called this.
      process.nextTick(update, tls.current())
      tls.onRenewed(update)
    },
    removeIdentityCertificateListener() {},
    addCaCertificateListener() {},
    removeCaCertificateListener() {},
  }
  // The first argument provides our certificate, whatever the types call it; the second would ask clients for theirs.
  return experimental.createCertificateProviderServerCredentials(provider, null, false)
}

type Ingest = (project: string, body: Buffer) => Promise<Rejection[]>

/** Messages stay bytes: we decode them ourselves. */
function exportMethod(folder: string, name: string): MethodDefinition<Buffer, Buffer> {
  const asIs = (bytes: Buffer) => bytes
  return {
    path: `/opentelemetry.proto.collector.${folder}.v1.${name}Service/Export`,
    requestStream: false,
    responseStream: false,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  }
}

function handleExport({ gate, limits, diagnostics }: GrpcOptions, ingest: Ingest) {
  const respond = async ({ request, metadata }: ServerUnaryCall<Buffer, Buffer>): Promise<Buffer> => {
    const share = openBudgetShare(limits.budget)
    try {
      share.reserve(request.length)
      return encodeProtobufResponse(await ingest(projectOf(metadata, gate), request))
    } finally {
      share.release()
    }
  }
  const handle = async (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) => {
    let response: Buffer
    try {
      response = await respond(call)
    } catch (error) {
      return callback(toGrpcStatus(error, diagnostics))
    }
    callback(null, response)
  }
  return (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) =>
    void handle(call, callback)
}

function projectOf(metadata: Metadata, gate: Gate): string {
  return projectOfHeaders((name) => metadata.get(name).map(String)[0], 'ingest', gate)
}
