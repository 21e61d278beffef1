import type { Span } from '@playhead/model'
import { readContentFormat, type ContentFormat } from './content-format.ts'
import { readJsonTraces } from '../otlp-json/json-traces.ts'
import { readProtobufTraces } from '../otlp-protobuf/protobuf-traces.ts'
import { refuseUnreadable, type Rejection } from '../rejection.ts'

export type DecodedTraces = { spans: Span[]; rejected: Rejection[]; format: ContentFormat }

/** The spans in the body of `POST /v1/traces`. A span that cannot be read is named; it never fails its batch. */
export function decodeTraces(body: Buffer, contentType: string): DecodedTraces {
  const format = readContentFormat(body, contentType)
  const read = format === 'json' ? readJsonTraces : readProtobufTraces
  const { items, rejected } = refuseUnreadable(format, () => read(body))
  return { spans: items, rejected, format }
}
