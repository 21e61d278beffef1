import { openAiAgentsItemToSpan, type Span } from '@playhead/model'
import { KnownError } from '../../errors/known-error.ts'
import { refuseHeavyJson } from '../otlp-json/json-body.ts'
import { MAX_ITEM_BYTES, MAX_UNCOUNTED_JSON_BYTES } from '../limits.ts'
import { addRejection, type Batch, type Rejection } from '../rejection.ts'
import { findSizeFault, findTimeFault } from '../item-faults.ts'

/** Decodes what the exporter of OpenAI Agents posts. */
export function decodeOpenAiAgents(body: Buffer, receivedAtNs: bigint): Batch<Span> {
  const items: Span[] = []
  const rejected: Rejection[] = []
  for (const [index, item] of readItems(body).entries()) {
    const span = openAiAgentsItemToSpan(item, receivedAtNs)
    const fault = typeof span === 'string' ? span : findFault(span, body.length > MAX_ITEM_BYTES)
    if (typeof span !== 'string' && fault === null) items.push(span)
    else addRejection(rejected, { item: `item ${index}`, reason: fault ?? '' })
  }
  if (items.length === 0 && rejected.length > 0) {
    throw new KnownError(
      'OTLP_UNREADABLE',
      `All ${rejected.length} items are invalid; the first one: ${rejected[0]!.reason}`,
    )
  }
  return { items, rejected }
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

/** Traces have no times, which are 0 then. */
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
