import { isRecord } from '../json/attribute-value.ts'
import { callsOf, type Call } from './calls.ts'
import { fail, requireSync, requireText } from './required-argument.ts'
import { readSubject, type SessionSubject } from './session-subject.ts'
import { listOfCalls } from './called.ts'
import { describeCall } from './expected-call.ts'
import type { Verdict } from './verdict.ts'

/** A rule about the order of calls. */
export type OrderRule = {
  text: string
  /** The call that breaks the rule, if any. */
  findViolation(calls: readonly Call[]): Call | undefined
}

/**
 * The first action is called before the second. A session that never calls the second satisfies the rule.
 *
 * @example
 * expect(session).toSatisfyOrder(before("fetch_customer_data", "issue_refund"))
 */
export function before(first: string, second: string): OrderRule {
  requireNames(first, second)
  return {
    text: `${first} before ${second}`,
    findViolation(calls) {
      const start = calls.findIndex(({ name }) => name === first)
      return calls.find(({ name }, index) => name === second && (start === -1 || index < start))
    },
  }
}

/** Every call of the second action comes right after a call of the first, with no other call in between. */
export function directlyBefore(first: string, second: string): OrderRule {
  requireNames(first, second)
  return {
    text: `${first} directly before ${second}`,
    findViolation: (calls) =>
      calls.find(({ name }, index) => name === second && calls[index - 1]?.name !== first),
  }
}

/** A session calls at most one of the two actions. */
export function neverBoth(one: string, other: string): OrderRule {
  requireNames(one, other)
  return {
    text: `never both ${one} and ${other}`,
    findViolation(calls) {
      const [first, second] = [one, other].map((wanted) => calls.find(({ name }) => name === wanted))
      if (first === undefined || second === undefined) return undefined
      return first.number > second.number ? first : second
    },
  }
}

/**
 * Checks that the calls of a session satisfy rules about their order.
 *
 * @example
 * satisfiesOrder(session, before("fetch_customer_data", "issue_refund"))
 */
export function satisfiesOrder(subject: SessionSubject, ...rules: readonly OrderRule[]): Verdict {
  const session = readSubject(subject)
  const calls = callsOf(session)
  for (const rule of rules) requireRule(rule)
  for (const rule of rules) {
    const violation = requireSync(rule.findViolation(calls), 'The findViolation of a rule')
    if (violation === undefined) continue
    if (!calls.includes(violation))
      fail(`The violation of "${rule.text}"`, 'must be one of the calls or undefined', violation)
    const message = `Expected ${rule.text}, but ${describeCall(violation)} violates it:\n\n${listInOrder(calls, violation)}`
    return { pass: false, message, stepId: violation.step.id }
  }
  return { pass: true, message: satisfiedMessage(calls, rules) }
}

function requireNames(...names: readonly unknown[]): void {
  for (const name of names) requireText(name, 'The name of an action in a rule')
}

function requireRule(rule: unknown): void {
  if (!isRecord(rule) || typeof rule.text !== 'string' || typeof rule.findViolation !== 'function')
    fail('A rule about the order', 'must come from before, directlyBefore or neverBoth', rule)
}

function satisfiedMessage(calls: readonly Call[], rules: readonly OrderRule[]): string {
  const texts = rules.map(({ text }) => text).join(', ')
  return `Expected the session to violate ${texts}, but it did not.\n${listOfCalls(calls)}`
}

function listInOrder(calls: readonly Call[], marked: Call): string {
  return calls
    .slice(0, 40)
    .map((call) => `${call === marked ? '▶' : ' '} ${describeCall(call)}`)
    .join('\n')
}
