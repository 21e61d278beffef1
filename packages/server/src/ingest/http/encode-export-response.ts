import type { ContentFormat } from './content-format.ts'
import { ProtobufWriter } from '../otlp-protobuf/protobuf-writer.ts'
import type { Rejection } from '../rejection.ts'

export type ExportSignal = 'traces' | 'logs'
export type ExportResponse = { contentType: string; body: Buffer }

const contentTypes = {
  json: 'application/json',
  protobuf: 'application/x-protobuf',
} as const satisfies Record<ContentFormat, string>

const rejectedFields = {
  traces: 'rejectedSpans',
  logs: 'rejectedLogRecords',
} as const satisfies Record<ExportSignal, string>

/** OTLP's answer to a batch that was stored, in the format of the request. Empty when nothing was rejected. */
export function encodeExportResponse(
  signal: ExportSignal,
  format: ContentFormat,
  rejected: readonly Rejection[],
): ExportResponse {
  const body = format === 'json' ? encodeJson(signal, rejected) : encodeProtobuf(rejected)
  return { contentType: contentTypes[format], body }
}

/** google.rpc.Status, which OTLP wants as the answer to a protobuf request that failed. */
export function encodeStatus(message: string): Buffer {
  const writer = new ProtobufWriter()
  writer.text(2, message)
  return writer.finish()
}

function encodeJson(signal: ExportSignal, rejected: readonly Rejection[]): Buffer {
  if (rejected.length === 0) return Buffer.from('{}')
  const partialSuccess = {
    [rejectedFields[signal]]: String(rejected.length),
    errorMessage: describeRejections(rejected),
  }
  return Buffer.from(JSON.stringify({ partialSuccess }))
}

/** Traces and logs have the same fields here. */
function encodeProtobuf(rejected: readonly Rejection[]): Buffer {
  const writer = new ProtobufWriter()
  if (rejected.length > 0) {
    writer.message(1, () => {
      writer.varint(1, rejected.length)
      writer.text(2, describeRejections(rejected))
    })
  }
  return writer.finish()
}

const MAX_MESSAGE_BYTES = 2048
const MAX_LISTED = 10
/** Leaves room for "; and 16384 more". */
const MAX_LIST_BYTES = MAX_MESSAGE_BYTES - 32

/** The first few by name, then how many more there are: senders log this line. */
function describeRejections(rejected: readonly Rejection[]): string {
  const listed: string[] = []
  let bytes = 0
  for (const { item, reason } of rejected.slice(0, MAX_LISTED)) {
    const line = `${item}: ${reason}`
    bytes += Buffer.byteLength(line) + 2
    if (bytes > MAX_LIST_BYTES) break
    listed.push(line)
  }
  const more = rejected.length - listed.length
  if (more > 0) listed.push(listed.length === 0 ? `${more} rejected` : `and ${more} more`)
  return listed.join('; ')
}
