import { encodeProtobufResponse } from '../otlp-protobuf/protobuf-responses.ts'
import { describeRejections, type Rejection } from '../rejection.ts'
import type { ContentFormat } from './decode-otlp.ts'

type Signal = 'traces' | 'logs'
export type ResponseBody = { contentType: string; body: Buffer }

const rejectedFields = {
  traces: 'rejectedSpans',
  logs: 'rejectedLogRecords',
} as const satisfies Record<Signal, string>

/** The OTLP response to a stored batch, in the format of the request. */
export function encodeExportResponse(
  signal: Signal,
  format: ContentFormat,
  rejected: readonly Rejection[],
): ResponseBody {
  return format === 'json'
    ? jsonBody(toJsonResponse(signal, rejected))
    : { contentType: 'application/x-protobuf', body: encodeProtobufResponse(rejected) }
}

export function jsonBody(value: object): ResponseBody {
  return { contentType: 'application/json', body: Buffer.from(JSON.stringify(value)) }
}

function toJsonResponse(signal: Signal, rejected: readonly Rejection[]): object {
  if (rejected.length === 0) return {}
  return {
    partialSuccess: {
      [rejectedFields[signal]]: String(rejected.length),
      errorMessage: describeRejections(rejected),
    },
  }
}
