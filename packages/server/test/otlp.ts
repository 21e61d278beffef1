import { randomBytes } from 'node:crypto'

export type SpanOptions = {
  traceId?: string
  spanId?: string
  parentSpanId?: string
  name?: string
  startMs?: number
  /** If absent, the span is still open. */
  endMs?: number
  attributes?: Record<string, unknown>
  status?: { code: number; message?: string }
  events?: { name: string; timeMs: number; attributes: Record<string, unknown> }[]
  /** OTLP's number; 1 (internal) if absent. */
  kind?: number
  links?: { traceId: string; spanId: string }[]
}

export function hex(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}

/** An OTLP/JSON payload with these spans. */
export function tracesPayload(
  spans: SpanOptions[],
  resource: Record<string, unknown> = { 'service.name': 'test' },
  scope = 'test',
) {
  return {
    resourceSpans: [
      {
        resource: { attributes: keyValues(resource) },
        scopeSpans: [{ scope: { name: scope }, spans: spans.map(otlpSpan) }],
      },
    ],
  }
}

function otlpSpan(options: SpanOptions) {
  const startMs = options.startMs ?? 1_700_000_000_000
  return {
    traceId: options.traceId ?? hex(16),
    spanId: options.spanId ?? hex(8),
    ...(options.parentSpanId !== undefined && { parentSpanId: options.parentSpanId }),
    name: options.name ?? 'step',
    kind: options.kind ?? 1,
    startTimeUnixNano: nanoseconds(startMs),
    ...(options.endMs !== undefined && { endTimeUnixNano: nanoseconds(options.endMs) }),
    attributes: keyValues(options.attributes ?? {}),
    status: options.status ?? {},
    events: (options.events ?? []).map((event) => ({
      name: event.name,
      timeUnixNano: nanoseconds(event.timeMs),
      attributes: keyValues(event.attributes),
    })),
    links: options.links ?? [],
  }
}

function keyValues(attributes: Record<string, unknown>) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }))
}

function anyValue(value: unknown): Record<string, unknown> {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number')
    return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } }
  return { kvlistValue: { values: keyValues((value ?? {}) as Record<string, unknown>) } }
}

function nanoseconds(timeMs: number): string {
  return String(BigInt(Math.round(timeMs * 1_000)) * 1_000n)
}
