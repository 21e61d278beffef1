import { AssertionError } from 'node:assert'
import { extendedMatchers, type SessionMatchers } from './matchers.ts'
import type { SessionSubject } from '../sessions/session-subject.ts'

export type SessionExpectation = SessionMatchers & { not: SessionMatchers }

/**
 * Expectations of a session where the test runner has no `expect` of its own, or there is no runner.
 *
 * @example
 * expectSession(await openRecording("refund.json")).not.toHaveCalled("issue_refund")
 */
export function expectSession(session: SessionSubject): SessionExpectation {
  return { ...matchersFor(session, false), not: matchersFor(session, true) }
}

function matchersFor(session: SessionSubject, isNot: boolean): SessionMatchers {
  const entries = Object.entries(extendedMatchers).map(([name, matcher]) => {
    const check = (...args: never[]) => {
      const { pass, message } = matcher.call({ isNot }, session, ...args)
      if (pass === isNot) throw new AssertionError({ message: message(), stackStartFn: check })
    }
    return [name, check]
  })
  return Object.fromEntries(entries) as SessionMatchers
}
