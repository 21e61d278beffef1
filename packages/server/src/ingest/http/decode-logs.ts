import type { LogRecord } from '@playhead/model'
import { readContentFormat, type ContentFormat } from './content-format.ts'
import { readJsonLogs } from '../otlp-json/json-logs.ts'
import { readProtobufLogs } from '../otlp-protobuf/protobuf-logs.ts'
import { refuseUnreadable, type Rejection } from '../rejection.ts'

/** `traceId` of a record is empty when it was written in no trace. */
export type DecodedLogs = { records: LogRecord[]; rejected: Rejection[]; format: ContentFormat }

/** The log records in the body of `POST /v1/logs`. A record that cannot be read is named; it never fails its batch. */
export function decodeLogs(body: Buffer, contentType: string): DecodedLogs {
  const format = readContentFormat(body, contentType)
  const read = format === 'json' ? readJsonLogs : readProtobufLogs
  const { items, rejected } = refuseUnreadable(format, () => read(body))
  return { records: items, rejected, format }
}
