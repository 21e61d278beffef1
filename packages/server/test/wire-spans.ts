import { spansToOtlpJson, type Span } from '@playhead/model'
import { ProtobufWriter } from '../src/ingest/otlp-protobuf/protobuf-writer.ts'
import { spansToOtlpProtobuf } from '../src/ingest/otlp-protobuf/spans-to-otlp-protobuf.ts'

/** A span in OTLP/JSON, without the request around it. */
export function jsonSpan(span: Span): Record<string, unknown> {
  const [resource] = spansToOtlpJson([span]).resourceSpans
  return { ...resource!.scopeSpans[0]!.spans[0] }
}

/** The bytes of one span in protobuf, without the request around it. */
export function spanBytes(span: Span): Buffer {
  const bytes = spansToOtlpProtobuf([span])
  const marker = Buffer.concat([Buffer.from([0x0a, 0x10]), Buffer.from(span.traceId, 'hex')])
  return bytes.subarray(bytes.indexOf(marker))
}

/** A protobuf request with these spans. */
export function requestOf(spans: Buffer[]): Buffer {
  const writer = new ProtobufWriter()
  writer.message(1, () => {
    writer.message(2, () => {
      for (const span of spans) writeBytes(writer, 2, span)
    })
  })
  return writer.finish()
}

export function writeBytes(writer: ProtobufWriter, field: number, bytes: Buffer): void {
  writer.tag(field, 2)
  writer.rawVarint(bytes.length)
  writer.reserve(bytes.length)
  bytes.copy(writer.buffer, writer.position)
  writer.position += bytes.length
}

export function rawSpan(write: (writer: ProtobufWriter) => void): Buffer {
  const writer = new ProtobufWriter()
  write(writer)
  return writer.finish()
}
