import { openAiAgentsItemToSpan, type Span } from '@playhead/model'
import { KnownError } from '../../errors/known-error.ts'
import { findSizeFault } from '../item-size.ts'
import { refuseHeavyJson } from '../otlp-json/json-body.ts'
import { MAX_ITEM_BYTES, MAX_UNCOUNTED_JSON_BYTES } from '../limits.ts'
import { addRejection, type Rejection } from '../rejection.ts'
import { findTimeFault } from '../time-fault.ts'

/** The spans in what OpenAI Agents' own exporter posts. An item that cannot be read is named; it never fails its batch. */
export function decodeOpenAiAgents(
  body: Buffer,
  receivedAtNs: bigint,
): { spans: Span[]; rejected: Rejection[] } {
  const spans: Span[] = []
  const rejected: Rejection[] = []
  for (const [index, item] of readItems(body).entries()) {
    const span = openAiAgentsItemToSpan(item, receivedAtNs)
    const fault = typeof span === 'string' ? span : findFault(span, body.length > MAX_ITEM_BYTES)
    if (typeof span !== 'string' && fault === null) spans.push(span)
    else addRejection(rejected, { item: `item ${index}`, reason: fault ?? '' })
  }
  if (spans.length === 0 && rejected.length > 0) {
    throw new KnownError(
      'OTLP_UNREADABLE',
      `None of the ${rejected.length} items can be read; the first: ${rejected[0]!.reason}`,
    )
  }
  return { spans, rejected }
}

function readItems(body: Buffer): unknown[] {
  if (body.length > MAX_UNCOUNTED_JSON_BYTES) refuseHeavyJson(body)
  let parsed: unknown
  try {
    parsed = JSON.parse(body.toString())
  } catch (error) {
    throw new KnownError('OTLP_UNREADABLE', `The body is not JSON: ${(error as Error).message}`, {
      cause: error,
    })
  }
  const data = (parsed as { data?: unknown } | null)?.data
  if (!Array.isArray(data))
    throw new KnownError('OTLP_UNREADABLE', 'The body has no "data" array of traces and spans.')
  return data
}

/** A trace has no times of its own: they are 0. */
function findFault(span: Span, canBeOversize: boolean): string | null {
  for (const [what, timeNs] of [
    ['its start time', span.startNs],
    ['its end time', span.endNs],
  ] as const) {
    const fault = timeNs === null || timeNs === 0n ? null : findTimeFault(what, timeNs)
    if (fault !== null) return fault
  }
  return canBeOversize ? findSizeFault(span.attributes, { 'its name': span.name }) : null
}
