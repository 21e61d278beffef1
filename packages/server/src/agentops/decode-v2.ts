import { agentOpsEventToItems, agentOpsSessionToSpan, type AgentOpsItems, type Span } from '@playhead/model'
import { KnownError } from '../errors/known-error.ts'
import { findSizeFault } from '../ingest/item-size.ts'
import { addRejection, type Rejection } from '../ingest/rejection.ts'
import { findTimeFault } from '../ingest/time-fault.ts'

/** SDKs send at most 512 at a time. Each becomes a span or two in memory. */
const MAX_EVENTS = 20_000

/** The root of a session, from the body of `/v2/create_session` and `/v2/update_session`. */
export function decodeSession(body: Record<string, unknown>, receivedAtNs: bigint): Span {
  const span = agentOpsSessionToSpan(body.session ?? body, receivedAtNs)
  const fault = typeof span === 'string' ? span : findFault(span)
  if (typeof span === 'string' || fault !== null)
    throw new KnownError('BAD_REQUEST', `The session can't be read: ${fault}.`)
  return span
}

/** Events as spans and records. One that can't be read is named; it never fails its batch. */
export function decodeEvents(
  body: Record<string, unknown>,
  context: { sessionId: string | undefined; receivedAtNs: bigint },
): { items: AgentOpsItems; rejected: Rejection[] } {
  if (!Array.isArray(body.events)) throw new KnownError('BAD_REQUEST', 'The body has no list of "events".')
  if (body.events.length > MAX_EVENTS) {
    throw new KnownError(
      'BODY_TOO_LARGE',
      `The body has ${body.events.length} events; ${MAX_EVENTS} are the most that is taken at once.`,
    )
  }
  const items: AgentOpsItems = { spans: [], logs: [] }
  const rejected: Rejection[] = []
  for (const [index, event] of body.events.entries()) {
    const made = agentOpsEventToItems(event, context)
    const fault = typeof made === 'string' ? made : firstFault(made)
    if (typeof made === 'string' || fault !== null) {
      addRejection(rejected, { item: `event ${index}`, reason: fault ?? '' })
      continue
    }
    items.spans.push(...made.spans)
    items.logs.push(...made.logs)
  }
  if (items.spans.length + items.logs.length === 0 && rejected.length > 0) {
    const reason = rejected[0]!.reason
    throw new KnownError(
      'BAD_REQUEST',
      `None of the ${rejected.length} events can be read; the first: ${reason}.`,
    )
  }
  return { items, rejected }
}

function firstFault({ spans, logs }: AgentOpsItems): string | null {
  for (const span of spans) {
    const fault = findFault(span)
    if (fault !== null) return fault
  }
  for (const log of logs) {
    const fault =
      findTimeFault('its time', log.timeNs) ?? findSizeFault(log.attributes, { 'its text': log.body })
    if (fault !== null) return fault
  }
  return null
}

/** An agent has no times of its own: they are 0. */
function findFault(span: Span): string | null {
  for (const timeNs of [span.startNs, span.endNs]) {
    const fault = timeNs === null || timeNs === 0n ? null : findTimeFault('its time', timeNs)
    if (fault !== null) return fault
  }
  return findSizeFault(span.attributes, { 'its name': span.name })
}
