import { REMOTE_PARENT_FLAGS, type Span } from '@playhead/model'
import { isMissingId } from './ids.ts'
import { quote } from './rejection.ts'
import { findTimeFault } from './item-faults.ts'

export function isParentRemote(flags: number): boolean {
  return (flags & REMOTE_PARENT_FLAGS) === REMOTE_PARENT_FLAGS
}

const LAST_KIND = 5
const LAST_STATUS_CODE = 2

/** Fills in the times that a decoded span lacks (they are 0), or returns why the span cannot be stored. */
export function normalizeSpan(span: Span): string | null {
  if (span.kind > LAST_KIND) span.kind = 0
  if (span.statusCode > LAST_STATUS_CODE) span.statusCode = 0
  return findIdFault(span) ?? normalizeTimes(span) ?? normalizeEventTimes(span)
}

function findIdFault({ traceId, spanId }: Span): string | null {
  if (isMissingId(traceId)) return traceId === '' ? 'it has no trace id' : 'its trace id is all zeros'
  if (isMissingId(spanId)) return spanId === '' ? 'it has no span id' : 'its span id is all zeros'
  return null
}

function normalizeTimes(span: Span): string | null {
  const endNs = span.endNs ?? 0n
  if (span.startNs === 0n && endNs === 0n) return 'it has neither a start nor an end time'
  if (span.startNs === 0n) span.startNs = endNs
  span.endNs = endNs === 0n ? null : endNs
  const fault = findTimeFault('its start time', span.startNs)
  if (fault !== null || span.endNs === null) return fault
  if (endNs < span.startNs) span.endNs = span.startNs
  return findTimeFault('its end time', endNs)
}

/** An event without a time gets the start of its span. */
function normalizeEventTimes({ events, startNs }: Span): string | null {
  for (const event of events) {
    if (event.timeNs === 0n) event.timeNs = startNs
    const fault = findTimeFault(`the time of its event ${quote(event.name)},`, event.timeNs)
    if (fault !== null) return fault
  }
  return null
}
