import { Client, compressionAlgorithms, credentials, Metadata, type ServiceError } from '@grpc/grpc-js'

export type GrpcAnswer = { body: Buffer } | { code: number; details: string }

type Signal = 'trace' | 'logs' | 'metrics'

/** An OTLP/gRPC client that sends raw bytes. */
export function grpcSender(address: string, options: { gzip?: boolean } = {}) {
  const client = new Client(address, credentials.createInsecure(), {
    'grpc.default_compression_algorithm':
      options.gzip === true ? compressionAlgorithms.gzip : compressionAlgorithms.identity,
    'grpc.max_send_message_length': -1,
  })
  const asIs = (bytes: Buffer) => bytes
  return {
    send(signal: Signal, body: Buffer, headers: Record<string, string> = {}): Promise<GrpcAnswer> {
      const metadata = new Metadata()
      for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
      const service = `${signal[0]!.toUpperCase()}${signal.slice(1)}Service`
      const path = `/opentelemetry.proto.collector.${signal}.v1.${service}/Export`
      return new Promise((resolve) => {
        client.makeUnaryRequest(path, asIs, asIs, body, metadata, (error: ServiceError | null, answer) =>
          resolve(error === null ? { body: answer! } : { code: error.code, details: error.details }),
        )
      })
    },
    close: () => client.close(),
  }
}
