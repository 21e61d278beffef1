import { emptyAttributes, type Attributes, type Span } from '../otlp/span.ts'
import { isMeaningful, isRecord, toText, type JsonObject } from '../json/attribute-value.ts'
import { parseIsoTimeNs, setAttribute } from './json-fields.ts'
import { stableId } from '../otlp/stable-id.ts'

const TRACE_DIGITS = 32
const SPAN_DIGITS = 16
const wholeUuid = /^[0-9a-f]{32}$/

/** Converts an AgentOps session id, which is a UUID. */
export function agentOpsSessionId(id: unknown): string | undefined {
  const text = toText(id)?.replaceAll('-', '')
  return text === undefined ? undefined : stableId(text, TRACE_DIGITS)
}

/** The id of the session's root step. */
export function agentOpsRootId(sessionId: string): string {
  return sessionId.slice(0, SPAN_DIGITS)
}

/** The step id of an event or agent. Uses both halves, because some UUIDs differ only in one of them. */
export function agentOpsStepId(id: string): string {
  const digits = id.replaceAll('-', '').toLowerCase()
  if (!wholeUuid.test(digits)) return stableId(id, SPAN_DIGITS)
  const half = (from: number) => BigInt(`0x${digits.slice(from, from + SPAN_DIGITS)}`)
  return (half(0) ^ half(SPAN_DIGITS)).toString(16).padStart(SPAN_DIGITS, '0')
}

/** Distinguishes these spans from those that AgentOps' later SDKs send. */
const scope = { name: 'agentops', version: 'v2' }
const resource = Object.freeze(emptyAttributes())

/** Converts a session of AgentOps' v2 API to a root span, or returns why it cannot. */
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
 * Converts an agent, which has no times: zeros mean the times of the steps below. Events have only the agent's id, so
 * each brings the agent along without a name; the copy that says more wins.
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

/** Scope and resource of all AgentOps records. */
export const agentOpsSource = { scope, resource }

/**
 * Since 0.3.20 `get_analytics` sets an end on a running session and `is_running` tells; before, `is_running` stays
 * true after the end.
 */
function endOf(session: JsonObject, receivedAtNs: bigint): bigint | null {
  if (!isMeaningful(session.end_timestamp)) return null
  if (session.is_running === true && '_session_url' in session) return null
  return parseIsoTimeNs(session.end_timestamp) ?? receivedAtNs
}
