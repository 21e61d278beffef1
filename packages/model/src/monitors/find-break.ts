import { callsOf } from '../expectations/calls.ts'
import type { Verdict } from '../expectations/verdict.ts'
import type { Findings } from '../findings/finding.ts'
import type { Session } from '../session/session.ts'
import { checkRule, type Rule } from './rule.ts'

type Found = Findings & { nowMs?: number }

/**
 * Finds the rules that a session breaks. A matcher explains itself at length even if it passes, and a hundred rules would cost
 * more than whatever else is done for a session. So the names of the calls are counted once, and a rule that these already
 * show to be kept is not checked.
 */
export function breakFinder(session: Session, found: Found): (rule: Rule) => Verdict | undefined {
  const counts = new Map<string, number>()
  for (const { name } of callsOf(session)) counts.set(name, (counts.get(name) ?? 0) + 1)
  return (rule) => {
    if (isSurelyKept(rule, session, counts)) return undefined
    const verdict = checkRule(rule, session, found)
    return verdict?.pass === false ? verdict : undefined
  }
}

/** Never true for a rule that is broken; false if only the matcher can tell. */
function isSurelyKept(
  rule: Rule,
  { session: { cost, durationMs, endState } }: Session,
  counts: ReadonlyMap<string, number>,
): boolean {
  switch (rule.kind) {
    case 'never':
      return !counts.has(rule.action)
    case 'always':
      return counts.has(rule.action)
    case 'at-most': {
      // With whatever arguments.
      if (rule.action !== undefined) return (counts.get(rule.action) ?? 0) <= rule.times
      for (const count of counts.values()) if (count > rule.times) return false
      return true
    }
    case 'cost':
      return (cost ?? 0) <= rule.atMost
    case 'duration':
      return endState !== 'running' && durationMs !== null && durationMs <= rule.atMostMs
    case 'only':
    case 'no-errors':
    case 'no-finding':
    case 'score':
      return false
  }
}
