import { emptyAttributes, type Span } from '../otlp/span.ts'
import { isRecord, toText, type JsonObject } from '../json/attribute-value.ts'
import { DEFAULT_NAME, typeOfSpanData } from '../dialects/openai-agents.ts'
import { parseIsoTimeNs, setAttribute } from './json-fields.ts'
import { stableId } from '../otlp/stable-id.ts'

const TRACE_DIGITS = 32
const SPAN_DIGITS = 24
const ROOT_DIGITS = 16
const scope = { name: 'openai-agents', version: '' }

/**
 * Converts an item of OpenAI Agents' exporter to a span, or returns why it cannot. A "trace" item becomes the root.
 * It has no times: zeros mean the times of the steps below. The item's data stay whole in `openai_agents.span_data`
 * and `openai_agents.error`, so that its step can be derived again.
 */
export function openAiAgentsItemToSpan(item: unknown, receivedAtNs: bigint): Span | string {
  if (!isRecord(item)) return 'an item must be an object'
  if (item.object === 'trace') return traceToSpan(item)
  if (item.object === 'trace.span') return itemToSpan(item, receivedAtNs)
  return `an item's "object" must be "trace" or "trace.span", not ${JSON.stringify(toText(item.object) ?? null)}`
}

function traceToSpan(item: JsonObject): Span | string {
  const id = toText(item.id)
  if (id === undefined) return 'a trace must have an "id"'
  const attributes = emptyAttributes()
  attributes['openai_agents.object'] = 'trace'
  setAttribute(attributes, 'openai_agents.workflow_name', item.workflow_name)
  setAttribute(attributes, 'openai_agents.group_id', item.group_id)
  setAttribute(attributes, 'openai_agents.metadata', item.metadata)
  const traceId = traceIdOf(id)
  return {
    ...noSpan(traceId, rootIdOf(traceId)),
    name: toText(item.workflow_name) ?? DEFAULT_NAME,
    startNs: 0n,
    endNs: 0n,
    attributes,
  }
}

function itemToSpan(item: JsonObject, receivedAtNs: bigint): Span | string {
  const id = toText(item.id)
  const trace = toText(item.trace_id)
  if (id === undefined || trace === undefined) return 'a span must have an "id" and a "trace_id"'
  const traceId = traceIdOf(trace)
  const parent = toText(item.parent_id)
  const startedAt = parseIsoTimeNs(item.started_at)
  const endedAt = parseIsoTimeNs(item.ended_at)
  const attributes = emptyAttributes()
  attributes['openai_agents.object'] = 'trace.span'
  setAttribute(attributes, 'openai_agents.span_data', item.span_data)
  setAttribute(attributes, 'openai_agents.error', item.error)
  setAttribute(attributes, 'openai_agents.metadata', item.metadata)
  return {
    ...noSpan(traceId, spanIdOf(id)),
    parentSpanId: parent === undefined ? rootIdOf(traceId) : spanIdOf(parent),
    name: nameOf(item.span_data),
    startNs: startedAt ?? endedAt ?? receivedAtNs,
    endNs: endedAt,
    statusCode: isRecord(item.error) ? 2 : 0,
    statusMessage: (isRecord(item.error) ? toText(item.error.message) : undefined) ?? '',
    attributes,
  }
}

function noSpan(traceId: string, spanId: string): Span {
  return {
    traceId,
    spanId,
    parentSpanId: null,
    isParentRemote: false,
    name: '',
    kind: 1,
    startNs: 0n,
    endNs: null,
    statusCode: 0,
    statusMessage: '',
    attributes: emptyAttributes(),
    events: [],
    links: [],
    resource: noResource,
    scope,
  }
}

const noResource = Object.freeze(emptyAttributes())

function traceIdOf(id: string): string {
  return stableId(id.replace(/^trace_/, ''), TRACE_DIGITS)
}

function spanIdOf(id: string): string {
  return stableId(id.replace(/^span_/, ''), SPAN_DIGITS)
}

function rootIdOf(traceId: string): string {
  return traceId.slice(0, ROOT_DIGITS)
}

function nameOf(data: unknown): string {
  if (!isRecord(data)) return 'span'
  return toText(data.name) ?? typeOfSpanData(data) ?? 'span'
}
