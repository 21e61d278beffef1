import type { Attributes, LogRecord, Scope } from '@playhead/model'
import type { Batch } from '../rejection.ts'
import { chargeHeap } from '../heap-budget.ts'
import { SPAN_ID_BYTES, TRACE_ID_BYTES } from '../ids.ts'
import { CONTAINER_HEAP_BYTES } from '../limits.ts'
import { emptyLogFields, findLogFault, toLogRecord, type LogFields } from '../log-fields.ts'
import { decodeProtobufBatch, type ProtobufItems } from './protobuf-batch.ts'
import type { ProtobufReader } from './protobuf-reader.ts'
import { readAnyValue, readAttribute, readId } from './protobuf-values.ts'

const protobufLogRecords: ProtobufItems<LogRecord> = {
  noun: 'log record',
  messages: {
    request: 'ExportLogsServiceRequest',
    byResource: 'ResourceLogs',
    byScope: 'ScopeLogs',
    item: 'LogRecord',
  },
  tags: { id: 0x52, name: 0x62, attribute: 0x32, body: 0x2a },
  read: readLogRecord,
  normalize: findLogFault,
}

/** Decodes an ExportLogsServiceRequest. */
export function decodeProtobufLogs(body: Buffer): Batch<LogRecord> {
  return decodeProtobufBatch(body, protobufLogRecords)
}

function readLogRecord(reader: ProtobufReader, resource: Attributes, scope: Scope): LogRecord {
  chargeHeap(reader.heap, 2 * CONTAINER_HEAP_BYTES)
  const fields = emptyLogFields()
  let attributeCount = 0
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === 0x32) readAttribute(reader, fields.attributes, ++attributeCount)
    else readLogField(reader, fields, tag)
  }
  return toLogRecord(fields, resource, scope)
}

function readLogField(reader: ProtobufReader, fields: LogFields, tag: number): void {
  switch (tag) {
    case 0x09:
      fields.timeNs = reader.readFixed64()
      break
    case 0x10:
      fields.severityNumber = reader.readVarint()
      break
    case 0x1a:
      fields.severityText = reader.readString()
      break
    case 0x2a:
      fields.body = readAnyValue(reader, 0) ?? null
      break
    case 0x4a:
      fields.traceId = readId(reader, 'trace id', TRACE_ID_BYTES)
      break
    case 0x52:
      fields.spanId = readId(reader, 'span id', SPAN_ID_BYTES)
      break
    case 0x59:
      fields.observedTimeNs = reader.readFixed64()
      break
    case 0x62:
      fields.eventName = reader.readKey()
      break
    default:
      reader.skip(tag)
  }
}
