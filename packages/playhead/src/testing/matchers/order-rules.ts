import type { Session } from '@playhead/model'
import { callsOf, type Call } from '../sessions/calls.ts'
import { replayLine } from '../sessions/replay-link.ts'
import { readSubject, type SessionSubject } from '../sessions/session-subject.ts'
import { listOfCalls } from './called.ts'
import { describeCall } from './expected-call.ts'
import type { Verdict } from './verdict.ts'

/** A condition on the order of calls. */
export type OrderRule = {
  text: string
  /** The call that breaks it, or undefined. */
  findBreach(calls: readonly Call[]): Call | undefined
}

/**
 * Whenever the second is called, the first was called before it. A session that never calls the second is fine.
 *
 * @example
 * expect(session).toSatisfyOrder(before("fetch_customer_data", "issue_refund"))
 */
export function before(first: string, second: string): OrderRule {
  return {
    text: `${first} before ${second}`,
    findBreach(calls) {
      const start = calls.findIndex(({ name }) => name === first)
      return calls.find(({ name }, index) => name === second && (start === -1 || index < start))
    },
  }
}

/** Every call of the second comes right after one of the first, with no other call between them. */
export function directlyBefore(first: string, second: string): OrderRule {
  return {
    text: `${first} directly before ${second}`,
    findBreach: (calls) =>
      calls.find(({ name }, index) => name === second && calls[index - 1]?.name !== first),
  }
}

/** A session calls one of them, the other, or neither, but not both. */
export function neverBoth(one: string, other: string): OrderRule {
  return {
    text: `never both ${one} and ${other}`,
    findBreach(calls) {
      const [first, second] = [one, other].map((wanted) => calls.find(({ name }) => name === wanted))
      if (first === undefined || second === undefined) return undefined
      return first.number > second.number ? first : second
    },
  }
}

/**
 * Whether the calls of a session keep to rules of order.
 *
 * @example
 * satisfiesOrder(session, before("fetch_customer_data", "issue_refund"))
 */
export function satisfiesOrder(subject: SessionSubject, ...rules: readonly OrderRule[]): Verdict {
  const session = readSubject(subject)
  const calls = callsOf(session)
  for (const rule of rules) {
    const breach = rule.findBreach(calls)
    if (breach === undefined) continue
    const message = `Expected ${rule.text}, but it was not so at ${describeCall(breach)}:\n\n${listInOrder(calls, breach)}${replayLine(session.session, breach.step.id)}`
    return { pass: false, message, stepId: breach.step.id }
  }
  return { pass: true, message: keptMessage(session, calls, rules) }
}

function keptMessage({ session }: Session, calls: readonly Call[], rules: readonly OrderRule[]): string {
  const texts = rules.map(({ text }) => text).join(', ')
  return `Expected that not: ${texts}. But it was so.\n${listOfCalls(calls)}${replayLine(session)}`
}

function listInOrder(calls: readonly Call[], marked: Call): string {
  return calls
    .slice(0, 40)
    .map((call) => `${call === marked ? '▶' : ' '} ${describeCall(call)}`)
    .join('\n')
}
