import { describeRejections, type Rejection } from '../rejection.ts'
import { ProtobufWriter } from './protobuf-writer.ts'

/** An ExportTraceServiceResponse or ExportLogsServiceResponse, which have the same fields. Empty if nothing was rejected. */
export function encodeProtobufResponse(rejected: readonly Rejection[]): Buffer {
  const writer = new ProtobufWriter()
  if (rejected.length > 0) {
    writer.message(1, () => {
      writer.varint(1, rejected.length)
      writer.text(2, describeRejections(rejected))
    })
  }
  return writer.finish()
}

/** A google.rpc.Status, the response to a protobuf request that failed. */
export function encodeStatus(message: string): Buffer {
  const writer = new ProtobufWriter()
  writer.text(2, message)
  return writer.finish()
}
