import type { LogRecord } from '@playhead/model'
import type { Batch } from '../rejection.ts'
import { chargeHeap } from '../heap-budget.ts'
import { SPAN_ID_BYTES, TRACE_ID_BYTES } from '../ids.ts'
import { findSizeFault } from '../item-faults.ts'
import { decodeJsonBatch, type JsonItems, type Envelope } from './json-batch.ts'
import {
  enumNames,
  parseJsonId,
  readJsonEnum,
  readJsonId,
  readJsonText,
  readJsonTime,
  type JsonObject,
} from './json-fields.ts'
import { readJsonAnyValue, readJsonAttributes, type JsonState } from './json-values.ts'
import { CONTAINER_HEAP_BYTES } from '../limits.ts'
import { findLogFault, severityNames, toLogRecord } from '../log-fields.ts'

const jsonLogRecords: JsonItems<LogRecord> = {
  noun: 'log record',
  fields: {
    byResource: { camel: 'resourceLogs', snake: 'resource_logs' },
    byScope: { camel: 'scopeLogs', snake: 'scope_logs' },
    items: { camel: 'logRecords', snake: 'log_records' },
  },
  wrongEndpoint: {
    field: { camel: 'resourceSpans', snake: 'resource_spans' },
    hint: 'it contains spans, which go to /v1/traces',
  },
  read: readLogRecord,
  normalize: findLogFault,
  findSizeFault: ({ attributes, body }) => findSizeFault(attributes, { 'its body': body }),
  identify: (record) => {
    const name = record.eventName ?? record.event_name
    return {
      name: typeof name === 'string' ? name : '',
      id: parseJsonId(record.spanId ?? record.span_id, SPAN_ID_BYTES) ?? '',
    }
  },
}

/** Decodes an ExportLogsServiceRequest in JSON. */
export function decodeJsonLogs(body: Buffer): Batch<LogRecord> {
  return decodeJsonBatch(body, jsonLogRecords)
}

const severityNumbers = enumNames('SEVERITY_NUMBER_', [
  'UNSPECIFIED',
  ...severityNames.flatMap((word) => ['', '2', '3', '4'].map((level) => `${word.toUpperCase()}${level}`)),
])

function readLogRecord(record: JsonObject, { resource, scope }: Envelope, state: JsonState): LogRecord {
  chargeHeap(state.heap, 2 * CONTAINER_HEAP_BYTES)
  state.key = 'body'
  const body = readJsonAnyValue(record.body, state, 0) ?? null
  const fields = {
    traceId: readJsonId(record.traceId ?? record.trace_id, 'trace id', TRACE_ID_BYTES),
    spanId: readJsonId(record.spanId ?? record.span_id, 'span id', SPAN_ID_BYTES),
    timeNs: readJsonTime(record.timeUnixNano ?? record.time_unix_nano, 'its time'),
    observedTimeNs: readJsonTime(
      record.observedTimeUnixNano ?? record.observed_time_unix_nano,
      'its observed time',
    ),
    severityText: readJsonText(record.severityText ?? record.severity_text, 'its severity text'),
    severityNumber: readJsonEnum(record.severityNumber ?? record.severity_number, severityNumbers),
    eventName: readJsonText(record.eventName ?? record.event_name, 'its event name'),
    body,
    attributes: readJsonAttributes(record.attributes, state),
  }
  return toLogRecord(fields, resource, scope)
}
