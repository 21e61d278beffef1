import {
  called as checkCalled,
  calledInOrder as checkCalledInOrder,
  costsLessThan as checkCost,
  finishesWithin as checkDuration,
  hasEffects as checkEffects,
  hasNoErrors as checkErrors,
  hasNoLoops as checkLoops,
  matchesTrajectory as checkTrajectory,
  readSubject,
  satisfiesOrder as checkOrder,
  type Expectation,
  type SessionSubject,
} from '@playhead/model'
import { replayLine } from '../sessions/replay-link.ts'

/** The result of a check. */
export type Verdict = Expectation

/** The checks of the model, whose messages end with where to see the session. */
function withReplay<Check extends (subject: SessionSubject, ...args: never[]) => Expectation>(
  check: Check,
): Check {
  const linked = (subject: SessionSubject, ...args: never[]): Verdict => {
    // Read once: the session of a test goes on while it is checked.
    const session = readSubject(subject)
    const verdict = check(session, ...args)
    return { ...verdict, message: verdict.message + replayLine(session.session, verdict.stepId) }
  }
  return linked as Check
}

/**
 * Checks that an action was called, optionally with which arguments and how often.
 *
 * @example
 * called(session, "fetch_customer_data", { args: ["c_42"], times: 1 })
 */
export const called: typeof checkCalled = withReplay(checkCalled)

/** Checks that actions were called in this order; other calls may come in between. */
export const calledInOrder: typeof checkCalledInOrder = withReplay(checkCalledInOrder)

/**
 * Checks that the calls of a session satisfy rules about their order.
 *
 * @example
 * satisfiesOrder(session, before("fetch_customer_data", "issue_refund"))
 */
export const satisfiesOrder: typeof checkOrder = withReplay(checkOrder)

/** Checks that the calls match a list; `mode` decides how strictly. */
export const matchesTrajectory: typeof checkTrajectory = withReplay(checkTrajectory)

/** Checks that a session made exactly these writes, whatever it read. */
export const hasEffects: typeof checkEffects = withReplay(checkEffects)

/**
 * Checks that a session cost less than a limit in US dollars, or stayed below several limits. If a model has no known
 * price or a call reported no usage, the cost is undecided: both the check and its negation fail.
 *
 * @example
 * costsLessThan(session, { usd: 0.01, tokens: 6_000, llmCalls: 4 })
 */
export const costsLessThan: typeof checkCost = withReplay(checkCost)

/**
 * Checks that a session finished in time, from its start to the end of its last step.
 *
 * @example
 * finishesWithin(session, "8s", { perTool: { fetch_customer_data: "2s" } })
 */
export const finishesWithin: typeof checkDuration = withReplay(checkDuration)

/** Checks that a session has no errors: none thrown by a step, and none returned by a tool as its result. */
export const hasNoErrors: typeof checkErrors = withReplay(checkErrors)

/** Checks that a session did not repeat the same call, with the same arguments, over and over. */
export const hasNoLoops: typeof checkLoops = withReplay(checkLoops)
