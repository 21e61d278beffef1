import { toText } from '../json/attribute-value.ts'
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
