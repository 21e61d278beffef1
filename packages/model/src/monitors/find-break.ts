import { callsOf, type Call } from '../expectations/calls.ts'
import { mostRepeated } from '../expectations/loops.ts'
import type { Verdict } from '../expectations/verdict.ts'
import type { Findings } from '../findings/finding.ts'
import { ownsError } from '../session/failure.ts'
import type { Session } from '../session/session.ts'
import { checkRule, type Rule } from './rule.ts'

type Found = Findings & { nowMs?: number }

/**
 * Finds the rules that a session breaks. A matcher reads the whole session and explains itself at length even if it passes,
 * and a hundred rules would cost more than whatever else is done for a session. So what they ask is looked up once, and a
 * rule that this already shows to be kept is not checked.
 */
export function breakFinder(session: Session, found: Found): (rule: Rule) => Verdict | undefined {
  const facts = new SessionFacts(session)
  return (rule) => {
    if (isSurelyKept(rule, session, facts)) return undefined
    const verdict = checkRule(rule, session, found)
    return verdict?.pass === false ? verdict : undefined
  }
}

/** What rules ask of a session, looked up when the first of them asks. */
class SessionFacts {
  readonly #session: Session
  readonly #repeats = new Map<string, number>()
  #callsByName: ReadonlyMap<string, readonly Call[]> | undefined
  #names: readonly string[] | undefined
  #mostCalls: number | undefined
  #hasErrors: boolean | undefined

  constructor(session: Session) {
    this.#session = session
  }

  get callsByName(): ReadonlyMap<string, readonly Call[]> {
    return (this.#callsByName ??= Map.groupBy(callsOf(this.#session), ({ name }) => name))
  }

  get names(): readonly string[] {
    return (this.#names ??= [...this.callsByName.keys()])
  }

  /** Whether a step failed and nothing recovered from it. */
  get hasErrors(): boolean {
    return (this.#hasErrors ??= this.#session.steps.some(
      (step) => ownsError(step) && step.error?.isHandled !== true,
    ))
  }

  /** Whether an action, or any action, was called more often than this with the same arguments. */
  isRepeated(times: number, action: string | undefined): boolean {
    if (action !== undefined) return this.#isRepeated(times, action)
    // With whatever arguments: comparing those of all calls takes longest.
    this.#mostCalls ??= Math.max(0, ...[...this.callsByName.values()].map(({ length }) => length))
    return this.#mostCalls > times && this.names.some((name) => this.#isRepeated(times, name))
  }

  #isRepeated(times: number, action: string): boolean {
    const calls = this.callsByName.get(action) ?? []
    if (calls.length <= times) return false
    const repeats = this.#repeats.get(action) ?? mostRepeated(calls)
    this.#repeats.set(action, repeats)
    return repeats > times
  }
}

/** Never true for a rule that is broken; false if only the matcher can tell. */
function isSurelyKept(
  rule: Rule,
  { session: { cost, durationMs, endState } }: Session,
  facts: SessionFacts,
): boolean {
  switch (rule.kind) {
    case 'never': {
      const call = facts.callsByName.get(rule.action)?.[0]
      if (call === undefined || rule.before === undefined) return call === undefined
      const earlier = facts.callsByName.get(rule.before)?.[0]
      return earlier !== undefined && earlier.number <= call.number
    }
    case 'always':
      return facts.callsByName.has(rule.action)
    case 'at-most':
      return !facts.isRepeated(rule.times, rule.action)
    case 'only':
      return facts.names.every((name) => rule.actions.includes(name))
    case 'cost':
      return (cost ?? 0) <= rule.atMost
    case 'duration':
      return endState !== 'running' && durationMs !== null && durationMs <= rule.atMostMs
    case 'no-errors':
      return !facts.hasErrors
    case 'no-finding':
    case 'score':
      // Checked at once, without reading the steps.
      return false
  }
}
