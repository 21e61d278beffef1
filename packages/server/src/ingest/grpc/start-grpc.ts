import {
  logVerbosity,
  Server,
  ServerCredentials,
  setLogVerbosity,
  type Metadata,
  type MethodDefinition,
  type sendUnaryData,
  type ServerUnaryCall,
} from '@grpc/grpc-js'
import { authorize, identify } from '../../access/caller.ts'
import { openBudgetShare } from '../body-budget.ts'
import { encodeExportResponse, type ExportSignal } from '../http/encode-export-response.ts'
import { takeLogs, takeTraces, type Taken } from '../take-batch.ts'
import type { Services } from '../../process/services.ts'
import { admitCalls } from './admit-calls.ts'
import { grpcStatus } from './grpc-status.ts'

/** `address` is where it listens: `host:port`. */
export type GrpcServer = { address: string; stop(): void }

/** Requests of one connection at a time; a sender has a handful. */
const MAX_CONCURRENT_STREAMS = 64

/** OTLP over gRPC: the same spans and records as over HTTP, taken the same way. */
export async function startGrpc(
  services: Services,
  { host, port }: { host: string; port: number },
): Promise<GrpcServer> {
  // What it has to say comes as errors too.
  setLogVerbosity(logVerbosity.NONE)
  const server = new Server({
    'grpc.max_receive_message_length': services.config.maxBodyBytes,
    'grpc.max_concurrent_streams': MAX_CONCURRENT_STREAMS,
    interceptors: [admitCalls((metadata) => projectOf(metadata, services), services)],
  })
  server.addService(
    { export: exportOf('trace', 'Trace') },
    { export: answer(services, 'traces', takeTraces) },
  )
  server.addService({ export: exportOf('logs', 'Logs') }, { export: answer(services, 'logs', takeLogs) })
  // Metrics are taken and dropped, as over HTTP.
  server.addService({ export: exportOf('metrics', 'Metrics') }, { export: drop })
  const name = host.includes(':') ? `[${host}]` : host
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`${name}:${port}`, ServerCredentials.createInsecure(), (error, boundPort) => {
      if (error === null) resolve(boundPort)
      else reject(error)
    })
  })
  return { address: `${name}:${bound}`, stop: () => server.forceShutdown() }
}

type Export = MethodDefinition<Buffer, Buffer>

/** Bytes in, bytes out: the decoder is the one that HTTP has. */
function exportOf(folder: string, name: string): Export {
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

type Take = (
  services: Services,
  project: string,
  payload: { body: Buffer; contentType: string },
) => Promise<Taken>

function answer(services: Services, signal: ExportSignal, take: Take) {
  return (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) => {
    void respond(services, call, { signal, take, callback })
  }
}

type Respond = { signal: ExportSignal; take: Take; callback: sendUnaryData<Buffer> }

async function respond(
  services: Services,
  call: ServerUnaryCall<Buffer, Buffer>,
  { signal, take, callback }: Respond,
): Promise<void> {
  let taken: Taken
  try {
    taken = await receive(services, call, take)
  } catch (error) {
    return callback(grpcStatus(error, services))
  }
  callback(null, encodeExportResponse(signal, taken.format, taken.rejected).body)
}

async function receive(
  services: Services,
  { request, metadata }: ServerUnaryCall<Buffer, Buffer>,
  take: Take,
): Promise<Taken> {
  const share = openBudgetShare(services.budget)
  try {
    share.take(request.length)
    const payload = { body: request, contentType: 'application/x-protobuf' }
    return await take(services, projectOf(metadata, services), payload)
  } finally {
    share.release()
  }
}

function drop(_call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>): void {
  callback(null, Buffer.alloc(0))
}

function projectOf(metadata: Metadata, services: Services): string {
  const header = (name: string) => metadata.get(name).map(String)[0]
  return authorize(
    identify(header, services),
    'ingest',
    header('x-playhead-project') || undefined,
    services.registry,
  )
}
