import type { Span, SpanEvent, SpanLink } from '@playhead/model'
import type { Batch } from '../rejection.ts'
import { chargeHeap } from '../heap-budget.ts'
import { isMissingId, isSpanId, isTraceId, SPAN_ID_BYTES, TRACE_ID_BYTES } from '../ids.ts'
import { findSizeFault } from '../item-faults.ts'
import { decodeJsonBatch, type JsonItems, type Envelope } from './json-batch.ts'
import {
  enumNames,
  parseJsonId,
  readJsonEnum,
  readJsonId,
  readJsonList,
  readJsonObject,
  readJsonText,
  readJsonTime,
  type JsonObject,
} from './json-fields.ts'
import { readJsonAttributes, type JsonState } from './json-values.ts'
import { CONTAINER_HEAP_BYTES } from '../limits.ts'
import { isParentRemote, normalizeSpan } from '../normalize-span.ts'

const jsonSpans: JsonItems<Span> = {
  noun: 'span',
  fields: {
    byResource: { camel: 'resourceSpans', snake: 'resource_spans' },
    byScope: { camel: 'scopeSpans', snake: 'scope_spans' },
    items: { camel: 'spans', snake: 'spans' },
  },
  wrongEndpoint: {
    field: { camel: 'resourceLogs', snake: 'resource_logs' },
    hint: 'it contains logs, which go to /v1/logs',
  },
  read: readSpan,
  normalize: normalizeSpan,
  findSizeFault: ({ attributes, events, name, statusMessage }) =>
    findSizeFault(attributes, {
      'its list of events': events.map((event) => event.attributes),
      'its name': name,
      'its status message': statusMessage,
    }),
  identify: (span) => ({
    name: typeof span.name === 'string' ? span.name : '',
    id: parseJsonId(span.spanId ?? span.span_id, SPAN_ID_BYTES) ?? '',
  }),
}

/** Decodes an ExportTraceServiceRequest in JSON. */
export function decodeJsonTraces(body: Buffer): Batch<Span> {
  return decodeJsonBatch(body, jsonSpans)
}

const spanKinds = enumNames('SPAN_KIND_', [
  'UNSPECIFIED',
  'INTERNAL',
  'SERVER',
  'CLIENT',
  'PRODUCER',
  'CONSUMER',
])
const statusCodes = enumNames('STATUS_CODE_', ['UNSET', 'OK', 'ERROR'])

function readSpan(span: JsonObject, { resource, scope }: Envelope, state: JsonState): Span {
  chargeHeap(state.heap, 2 * CONTAINER_HEAP_BYTES)
  const parentSpanId = readJsonId(span.parentSpanId ?? span.parent_span_id, 'parent span id', SPAN_ID_BYTES)
  const status = readJsonObject(span.status ?? noStatus, 'its status')
  return {
    traceId: readJsonId(span.traceId ?? span.trace_id, 'trace id', TRACE_ID_BYTES),
    spanId: readJsonId(span.spanId ?? span.span_id, 'span id', SPAN_ID_BYTES),
    parentSpanId: isMissingId(parentSpanId) ? null : parentSpanId,
    isParentRemote: isParentRemote(readJsonEnum(span.flags, flagNames)),
    name: readJsonText(span.name, 'its name'),
    kind: readJsonEnum(span.kind, spanKinds),
    startNs: readJsonTime(span.startTimeUnixNano ?? span.start_time_unix_nano, 'its start time'),
    endNs: readJsonTime(span.endTimeUnixNano ?? span.end_time_unix_nano, 'its end time'),
    statusCode: readJsonEnum(status.code, statusCodes),
    statusMessage: readJsonText(status.message, 'its status message'),
    attributes: readJsonAttributes(span.attributes, state),
    events: readJsonList(span.events, 'its list of events').map((event) => readEvent(event, state)),
    links: readLinks(span.links, state),
    resource,
    scope,
  }
}

const noStatus: JsonObject = {}
const flagNames: ReadonlyMap<string, number> = new Map()

function readEvent(value: unknown, state: JsonState): SpanEvent {
  chargeHeap(state.heap, CONTAINER_HEAP_BYTES)
  const event = readJsonObject(value, 'an event')
  return {
    name: readJsonText(event.name, 'the name of an event'),
    timeNs: readJsonTime(event.timeUnixNano ?? event.time_unix_nano, 'the time of an event'),
    attributes: readJsonAttributes(event.attributes, state),
  }
}

/** Drops links without ids: tracers create them from contexts that were never started. */
function readLinks(value: unknown, state: JsonState): SpanLink[] {
  return readJsonList(value, 'its list of links')
    .map((link) => readLink(link, state))
    .filter((link) => isTraceId(link.traceId) && isSpanId(link.spanId))
}

function readLink(value: unknown, state: JsonState): SpanLink {
  chargeHeap(state.heap, CONTAINER_HEAP_BYTES)
  const link = readJsonObject(value, 'a link')
  return {
    traceId: parseJsonId(link.traceId ?? link.trace_id, TRACE_ID_BYTES) ?? '',
    spanId: parseJsonId(link.spanId ?? link.span_id, SPAN_ID_BYTES) ?? '',
    attributes: readJsonAttributes(link.attributes, state),
  }
}
