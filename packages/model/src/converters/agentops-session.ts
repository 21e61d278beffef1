import { emptyAttributes, type Attributes, type Span } from '../otlp/span.ts'
import { isMeaningful, isRecord, toText, type JsonObject } from '../json/attribute-value.ts'
import { parseIsoTimeNs, setAttribute } from './json-fields.ts'
import { stableId } from '../otlp/stable-id.ts'

const TRACE_DIGITS = 32
const SPAN_DIGITS = 16
const wholeUuid = /^[0-9a-f]{32}$/

/** The session behind an AgentOps session id, which is a UUID. Undefined when there is none. */
export function agentOpsSessionId(id: unknown): string | undefined {
  const text = toText(id)?.replaceAll('-', '')
  return text === undefined ? undefined : stableId(text, TRACE_DIGITS)
}

/** The session's own step, below which the others hang. */
export function agentOpsRootId(sessionId: string): string {
  return sessionId.slice(0, SPAN_DIGITS)
}

/** The step of an event or agent. Both halves count: some kinds of UUID keep all that differs in one of them. */
export function agentOpsStepId(id: string): string {
  const digits = id.replaceAll('-', '').toLowerCase()
  if (!wholeUuid.test(digits)) return stableId(id, SPAN_DIGITS)
  const half = (from: number) => BigInt(`0x${digits.slice(from, from + SPAN_DIGITS)}`)
  return (half(0) ^ half(SPAN_DIGITS)).toString(16).padStart(SPAN_DIGITS, '0')
}

/** What sets these spans apart from those that AgentOps' later SDKs send themselves. */
const scope = { name: 'agentops', version: 'v2' }
const resource = Object.freeze(emptyAttributes())

/** A session object of AgentOps' v2 API as the root of a session; or why it can't be read. */
export function agentOpsSessionToSpan(session: unknown, receivedAtNs: bigint): Span | string {
  if (!isRecord(session)) return 'the body must have a "session" object'
  const sessionId = agentOpsSessionId(session.session_id ?? session.id)
  if (sessionId === undefined) return 'the session must have a "session_id"'
  const attributes = emptyAttributes()
  attributes['agentops.span.kind'] = 'session'
  if (isMeaningful(session.tags)) setAttribute(attributes, 'agentops.tags', session.tags)
  setAttribute(attributes, 'trace.metadata.video', session.video)
  setAttribute(attributes, 'agentops.host_env', session.host_env)
  const endNs = endOf(session, receivedAtNs)
  if (endNs !== null) {
    setAttribute(attributes, 'agentops.session.end_state', toText(session.end_state) ?? 'Indeterminate')
    setAttribute(attributes, 'agentops.session.end_state_reason', session.end_state_reason)
  }
  return agentOpsSpan(sessionId, agentOpsRootId(sessionId), {
    parentSpanId: null,
    name: 'session',
    startNs: parseIsoTimeNs(session.init_timestamp) ?? receivedAtNs,
    endNs,
    attributes,
  })
}

/**
 * An agent has a name and no times: both are 0, which the assembly takes for "those of the steps below". Events name
 * their agent by id only, so they bring it along without a name; what says more counts, whichever arrives first.
 */
export function agentOpsAgentToSpan(sessionId: string, agent: { id: string; name?: string }): Span {
  const attributes = emptyAttributes()
  attributes['agentops.span.kind'] = 'agent'
  if (agent.name !== undefined) attributes['agent.name'] = agent.name
  return agentOpsSpan(sessionId, agentOpsStepId(agent.id), {
    parentSpanId: agentOpsRootId(sessionId),
    name: agent.name ?? 'agent',
    startNs: 0n,
    endNs: 0n,
    attributes,
  })
}

type SpanParts = {
  parentSpanId: string | null
  name: string
  startNs: bigint
  endNs: bigint | null
  attributes: Attributes
}

export function agentOpsSpan(traceId: string, spanId: string, parts: SpanParts): Span {
  return {
    traceId,
    spanId,
    isParentRemote: false,
    kind: 1,
    statusCode: 0,
    statusMessage: '',
    events: [],
    links: [],
    resource,
    scope,
    ...parts,
  }
}

/** Where the session's records come from. */
export const agentOpsOrigin = { scope, resource }

/**
 * From 0.3.20 on `get_analytics` writes an end into a session that runs, and says so; before that `is_running` stays true
 * at the end as well.
 */
function endOf(session: JsonObject, receivedAtNs: bigint): bigint | null {
  if (!isMeaningful(session.end_timestamp)) return null
  if (session.is_running === true && '_session_url' in session) return null
  return parseIsoTimeNs(session.end_timestamp) ?? receivedAtNs
}
