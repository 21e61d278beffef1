import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  emptyAttributes,
  type Attributes,
  type AttributeValue,
  type LogRecord,
  type Scope,
  type Span,
  type SpanEvent,
} from '../src/otlp/span.ts'

const fixtures = join(import.meta.dirname, '../../../fixtures')

type WireValue = Record<string, unknown>
type WireAttribute = { key: string; value?: WireValue }
type WireScope = { name?: string; version?: string }
type WireSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind?: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  status?: { code?: number; message?: string }
  attributes?: WireAttribute[]
  events?: { name: string; timeUnixNano: string; attributes?: WireAttribute[] }[]
}
type WireLog = {
  traceId?: string
  spanId?: string
  timeUnixNano?: string
  severityText?: string
  eventName?: string
  body?: WireValue
  attributes?: WireAttribute[]
}
type WireResource = { attributes?: WireAttribute[] }
type Body = {
  resourceSpans?: { resource?: WireResource; scopeSpans: { scope?: WireScope; spans: WireSpan[] }[] }[]
  resourceLogs?: { resource?: WireResource; scopeLogs: { scope?: WireScope; logRecords: WireLog[] }[] }[]
}

/** Every span of a folder below `fixtures`, in the order in which they were sent. */
export function loadSpans(folder: string): Span[] {
  return loadBodies(folder).flatMap((body) => spansOf(body))
}

/** Every log record of a folder. */
export function loadLogs(folder: string): LogRecord[] {
  return loadBodies(folder).flatMap((body) => logsOf(body))
}

/** The items that OpenAI Agents' own exporter sent. */
export function loadItems(folder: string): unknown[] {
  return loadBodies(folder).flatMap((body) => (body as { data?: unknown[] }).data ?? [])
}

export function loadJson(file: string): unknown {
  return JSON.parse(readFileSync(join(fixtures, file), 'utf8'))
}

/** The files of a folder as they are. */
export function loadTexts(folder: string): { file: string; text: string }[] {
  const path = join(fixtures, folder)
  return readdirSync(path).map((file) => ({ file, text: readFileSync(join(path, file), 'utf8') }))
}

function loadBodies(folder: string): Body[] {
  const path = join(fixtures, folder)
  const isBody = (name: string) =>
    (/^\d+-.*\.json$/.test(name) && !name.endsWith('.meta.json') && !isHeaderFile(path, name)) ||
    name.endsWith('_traces.body')
  return readdirSync(path)
    .filter(isBody)
    .toSorted()
    .map((name) => JSON.parse(readFileSync(join(path, name), 'utf8')) as Body)
}

/** Below `agentops-sdk` the .json holds the headers and the .body what was sent. */
function isHeaderFile(path: string, name: string): boolean {
  return readdirSync(path).includes(name.replace(/\.json$/, '.body'))
}

function spansOf({ resourceSpans = [] }: Body): Span[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const shared = toAttributes(resource?.attributes)
    return scopeSpans.flatMap(({ scope, spans }) => {
      const from = toScope(scope)
      return spans.map((span) => toSpan(span, shared, from))
    })
  })
}

function toSpan(span: WireSpan, resource: Attributes, scope: Scope): Span {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId === undefined || span.parentSpanId === '' ? null : span.parentSpanId,
    isParentRemote: false,
    name: span.name,
    kind: span.kind ?? 0,
    startNs: BigInt(span.startTimeUnixNano),
    endNs: BigInt(span.endTimeUnixNano),
    statusCode: span.status?.code ?? 0,
    statusMessage: span.status?.message ?? '',
    attributes: toAttributes(span.attributes),
    events: (span.events ?? []).map((event): SpanEvent => ({
      name: event.name,
      timeNs: BigInt(event.timeUnixNano),
      attributes: toAttributes(event.attributes),
    })),
    links: [],
    resource,
    scope,
  }
}

function logsOf({ resourceLogs = [] }: Body): LogRecord[] {
  return resourceLogs.flatMap(({ resource, scopeLogs }) => {
    const shared = toAttributes(resource?.attributes)
    return scopeLogs.flatMap(({ scope, logRecords }) =>
      logRecords.map((log): LogRecord => {
        const attributes = toAttributes(log.attributes)
        return {
          traceId: log.traceId ?? '',
          spanId: log.spanId === undefined || log.spanId === '' ? null : log.spanId,
          timeNs: BigInt(log.timeUnixNano ?? '0'),
          severity: log.severityText ?? '',
          name: log.eventName ?? (attributes['event.name'] as string | undefined) ?? '',
          body: toValue(log.body),
          attributes,
          resource: shared,
          scope: toScope(scope),
        }
      }),
    )
  })
}

function toScope(scope: WireScope | undefined): Scope {
  return { name: scope?.name ?? '', version: scope?.version ?? '' }
}

function toAttributes(list: WireAttribute[] | undefined): Attributes {
  const attributes = emptyAttributes()
  for (const { key, value } of list ?? []) attributes[key] = toValue(value)
  return attributes
}

function toValue(wire: WireValue | undefined): AttributeValue {
  if (wire === undefined) return null
  if (wire.arrayValue !== undefined) {
    const { values = [] } = wire.arrayValue as { values?: WireValue[] }
    return values.map(toValue)
  }
  if (wire.kvlistValue !== undefined) {
    return toAttributes((wire.kvlistValue as { values?: WireAttribute[] }).values)
  }
  if (wire.intValue !== undefined) {
    const given = wire.intValue as string | number
    return Number.isSafeInteger(Number(given)) ? Number(given) : String(given)
  }
  return (Object.values(wire)[0] ?? null) as AttributeValue
}
