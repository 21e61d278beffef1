import { agentOpsEventToItems, agentOpsSessionToSpan, type AgentOpsItems, type Span } from '@playhead/model'
import { KnownError } from '../errors/known-error.ts'
import { addRejection, type Rejection } from '../ingest/rejection.ts'
import { ingestLogs, ingestSpans, type IngestPipeline } from '../ingest/ingest-batch.ts'
import { findSizeFault, findTimeFault } from '../ingest/item-faults.ts'

/** SDKs send at most 512 per request. Each becomes one or two spans in memory. */
const MAX_EVENTS = 20_000

/** Decodes a session's root span from the body of `/v2/create_session` or `/v2/update_session`. */
export function decodeSession(body: Record<string, unknown>, receivedAtNs: bigint): Span {
  const span = agentOpsSessionToSpan(body.session ?? body, receivedAtNs)
  const fault = typeof span === 'string' ? span : findFault(span)
  if (typeof span === 'string' || fault !== null)
    throw new KnownError('BAD_REQUEST', `The session is invalid: ${fault}.`)
  return span
}

/** Decodes events into spans and log records. An invalid event is rejected; it never fails its batch. */
export function decodeEvents(
  body: Record<string, unknown>,
  context: { sessionId: string | undefined; receivedAtNs: bigint },
): AgentOpsItems & { rejected: Rejection[] } {
  if (!Array.isArray(body.events)) throw new KnownError('BAD_REQUEST', 'The body has no "events" array.')
  if (body.events.length > MAX_EVENTS) {
    throw new KnownError(
      'BODY_TOO_LARGE',
      `The body has ${body.events.length} events; the limit is ${MAX_EVENTS}.`,
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
      `All ${rejected.length} events are invalid; the first one: ${reason}.`,
    )
  }
  return { ...items, rejected }
}

/** Resolves when all spans and log records are on disk. */
export async function ingestAgentOps(
  pipeline: IngestPipeline,
  project: string,
  { spans = [], logs = [], rejected = [] }: Partial<AgentOpsItems> & { rejected?: Rejection[] },
): Promise<void> {
  await Promise.all([
    spans.length + rejected.length > 0 && ingestSpans(pipeline, project, () => ({ items: spans, rejected })),
    logs.length > 0 && ingestLogs(pipeline, project, () => ({ items: logs, rejected: [] })),
  ])
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

/** Agents have no times, which are 0 then. */
function findFault(span: Span): string | null {
  for (const timeNs of [span.startNs, span.endNs]) {
    const fault = timeNs === null || timeNs === 0n ? null : findTimeFault('its time', timeNs)
    if (fault !== null) return fault
  }
  return findSizeFault(span.attributes, { 'its name': span.name })
}
