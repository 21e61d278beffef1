import {
  groupSpans,
  REMOTE_PARENT_FLAGS,
  toSpanId,
  type Attributes,
  type AttributeValue,
  type Span,
} from '@playhead/model'
import { ProtobufWriter } from './protobuf-writer.ts'

/** Encodes spans as an ExportTraceServiceRequest. */
export function spansToOtlpProtobuf(spans: readonly Span[]): Buffer {
  const writer = new ProtobufWriter()
  for (const { resource, scopes } of groupSpans(spans)) {
    writer.message(1, () => {
      writer.message(1, () => writeAttributes(writer, 1, resource))
      for (const ofScope of scopes) {
        writer.message(2, () => {
          writer.message(1, () => {
            writer.text(1, ofScope.scope.name)
            writer.text(2, ofScope.scope.version)
          })
          for (const span of ofScope.spans) writer.message(2, () => writeSpan(writer, span))
        })
      }
    })
  }
  return writer.finish()
}

function writeSpan(writer: ProtobufWriter, span: Span): void {
  writer.hex(1, span.traceId)
  writer.hex(2, toSpanId(span.spanId))
  if (span.parentSpanId !== null) writer.hex(4, toSpanId(span.parentSpanId))
  writer.text(5, span.name)
  writer.varint(6, span.kind)
  writer.fixed64(7, span.startNs)
  if (span.endNs !== null) writer.fixed64(8, span.endNs)
  writeAttributes(writer, 9, span.attributes)
  for (const { timeNs, name, attributes } of span.events) {
    writer.message(11, () => {
      writer.fixed64(1, timeNs)
      writer.text(2, name)
      writeAttributes(writer, 3, attributes)
    })
  }
  for (const { traceId, spanId, attributes } of span.links) {
    writer.message(13, () => {
      writer.hex(1, traceId)
      writer.hex(2, toSpanId(spanId))
      writeAttributes(writer, 4, attributes)
    })
  }
  writer.message(15, () => {
    if (span.statusMessage !== '') writer.text(2, span.statusMessage)
    if (span.statusCode !== 0) writer.varint(3, span.statusCode)
  })
  if (span.isParentRemote) writer.fixed32(16, REMOTE_PARENT_FLAGS)
}

function writeAttributes(writer: ProtobufWriter, field: number, attributes: Attributes): void {
  for (const [key, value] of Object.entries(attributes)) {
    writer.message(field, () => {
      writer.text(1, key)
      writer.message(2, () => writeAnyValue(writer, value))
    })
  }
}

function writeAnyValue(writer: ProtobufWriter, value: AttributeValue): void {
  if (value === null) return
  if (typeof value === 'string') writer.text(1, value)
  else if (typeof value === 'boolean') writer.varint(2, value ? 1 : 0)
  else if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) writer.int64(3, value)
    else writer.double(4, value)
  } else if (Array.isArray(value)) {
    writer.message(5, () => {
      for (const element of value) writer.message(1, () => writeAnyValue(writer, element))
    })
  } else writer.message(6, () => writeAttributes(writer, 1, value))
}
