import { traceRequest } from '../../server/src/ingest/test/protobuf-oracle.ts'

type Value = Record<string, unknown>
export type OtlpAttribute = { key: string; value: Value }
export type OtlpSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  flags?: number
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano?: string
  attributes?: OtlpAttribute[]
  events?: { timeUnixNano: string; name: string; attributes?: OtlpAttribute[] }[]
  links?: { traceId: string; spanId: string }[]
  status?: { code?: number; message?: string }
}
export type OtlpPayload = {
  resourceSpans?: {
    resource: { attributes?: OtlpAttribute[] }
    scopeSpans?: { scope: { name: string; version: string }; spans?: OtlpSpan[] }[]
  }[]
}

/** What protobufjs reads: a request as OTLP/JSON, with the fields that were sent. */
export function decodeOtlp(bytes: Uint8Array): OtlpPayload {
  const message = traceRequest.decode(bytes)
  const payload = traceRequest.toObject(message, { longs: String, bytes: Buffer }) as OtlpPayload
  for (const span of spansOf(payload)) {
    span.traceId = toHex(span.traceId)
    span.spanId = toHex(span.spanId)
    if (span.parentSpanId !== undefined) span.parentSpanId = toHex(span.parentSpanId)
    for (const link of span.links ?? []) {
      link.traceId = toHex(link.traceId)
      link.spanId = toHex(link.spanId)
    }
  }
  return payload
}

export function spansOf({ resourceSpans = [] }: OtlpPayload): OtlpSpan[] {
  return resourceSpans.flatMap(({ scopeSpans = [] }) => scopeSpans).flatMap(({ spans = [] }) => spans)
}

function toHex(id: unknown): string {
  return (id as Buffer).toString('hex')
}
