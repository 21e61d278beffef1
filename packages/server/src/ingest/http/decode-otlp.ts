import type { LogRecord, Span } from '@playhead/model'
import { KnownError } from '../../errors/known-error.ts'
import { decodeJsonLogs } from '../otlp-json/json-logs.ts'
import { decodeJsonTraces } from '../otlp-json/json-traces.ts'
import { decodeProtobufLogs } from '../otlp-protobuf/protobuf-logs.ts'
import { decodeProtobufTraces } from '../otlp-protobuf/protobuf-traces.ts'
import type { Batch } from '../rejection.ts'
import type { ContentFormat } from '../span-thread.ts'

/** Decodes the body of `POST /v1/traces`. */
export function decodeTraces(body: Buffer, format: ContentFormat): Batch<Span> {
  return format === 'json' ? decodeJsonTraces(body) : decodeProtobufTraces(body)
}

/** Decodes the body of `POST /v1/logs`. A record outside of any trace has an empty `traceId`. */
export function decodeLogs(body: Buffer, format: ContentFormat): Batch<LogRecord> {
  return format === 'json' ? decodeJsonLogs(body) : decodeProtobufLogs(body)
}

const protobufTypes = new Set([
  'application/x-protobuf',
  'application/protobuf',
  'application/vnd.google.protobuf',
])

/** The format that the content type names; without a content type, the first byte decides. */
export function formatOf(start: Buffer, contentType: string): ContentFormat {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  if (protobufTypes.has(type)) return 'protobuf'
  if (type === 'application/json') return 'json'
  if (type === '') return startsLikeJson(start) ? 'json' : 'protobuf'
  throw new KnownError(
    'UNSUPPORTED_MEDIA_TYPE',
    `The content type ${JSON.stringify(type.slice(0, 100))} is not OTLP: send application/x-protobuf or application/json.`,
  )
}

/** Without skipping white space: OTLP's protobuf starts with a line feed. */
function startsLikeJson(body: Buffer): boolean {
  return body[0] === 0x7b || body[0] === 0x5b
}
