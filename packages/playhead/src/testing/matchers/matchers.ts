import { AssertionError } from 'node:assert'
import { readSubject, type SessionSubject } from '../sessions/session-subject.ts'
import { called, type CalledOptions } from './called.ts'
import { costsLessThan, type CostLimit } from './cost.ts'
import { finishesWithin, type DurationText, type FinishOptions } from './duration.ts'
import { hasNoErrors, type ErrorOptions } from './errors.ts'
import type { ExpectedCall } from './expected-call.ts'
import { hasNoLoops, type LoopOptions } from './loops.ts'
import { satisfiesOrder, type OrderRule } from './order-rules.ts'
import {
  calledInOrder,
  hasEffects,
  matchesTrajectory,
  type EffectsOptions,
  type InOrderOptions,
  type TrajectoryOptions,
} from './trajectory.ts'
import type { Verdict } from './verdict.ts'

/** What a session can be expected to be, as `expect(session)` offers it. */
export type SessionMatchers<Returned = void> = {
  /** Calls an action, with these arguments, so often. */
  toHaveCalled(name: string, options?: CalledOptions): Returned
  /** Calls these actions in this order; others may be between them. */
  toHaveCalledInOrder(calls: readonly ExpectedCall[], options?: InOrderOptions): Returned
  /** Keeps to rules of order: `before("fetch_customer_data", "issue_refund")`. */
  toSatisfyOrder(...rules: readonly OrderRule[]): Returned
  /** Makes these calls, in the sense of a mode. */
  toMatchTrajectory(calls: readonly ExpectedCall[], options?: TrajectoryOptions): Returned
  /** Writes in just these ways, whatever it reads. */
  toHaveEffects(calls: readonly ExpectedCall[], options?: EffectsOptions): Returned
  /** Costs less: US dollars, or `{ usd, tokens, llmCalls }`. */
  toCostLessThan(limit: number | CostLimit): Returned
  /** Is done in time: "8s". */
  toFinishWithin(limit: DurationText, options?: FinishOptions): Returned
  toHaveNoErrors(options?: ErrorOptions): Returned
  /** Makes no call with the same arguments more than twice. */
  toHaveNoLoops(options?: LoopOptions): Returned
}

export type MatcherName = keyof SessionMatchers

/** The plain function behind each matcher. */
export const verdictsOf: { [Name in MatcherName]: (subject: SessionSubject, ...args: never[]) => Verdict } = {
  toHaveCalled: called,
  toHaveCalledInOrder: calledInOrder,
  toSatisfyOrder: satisfiesOrder,
  toMatchTrajectory: matchesTrajectory,
  toHaveEffects: hasEffects,
  toCostLessThan: costsLessThan,
  toFinishWithin: finishesWithin,
  toHaveNoErrors: hasNoErrors,
  toHaveNoLoops: hasNoLoops,
}

type ExtendedMatcher = (
  this: unknown,
  subject: SessionSubject,
  ...args: never[]
) => { pass: boolean; message: () => string }

/** The matchers in the shape that `expect.extend` of vitest and jest takes. */
export const extendedMatchers = Object.fromEntries(
  Object.entries(verdictsOf).map(([name, verdictOf]) => [
    name,
    function (this: unknown, subject, ...args) {
      const { pass, message, stepId, isUndecided } = verdictOf(subject, ...args)
      const isNot = (this as { isNot?: boolean } | undefined)?.isNot === true
      // Where nothing can be said, neither the expectation nor its opposite holds.
      if (isUndecided === true || pass === isNot) noteFailingStep(readSubject(subject).session.id, stepId)
      return { pass: isUndecided === true ? isNot : pass, message: () => message }
    } satisfies ExtendedMatcher,
  ]),
) as { [Name in MatcherName]: ExtendedMatcher }

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

/** The step that the last failed expectation of a session points to, by the session's id. */
const steps = new Map<string, string>()

function noteFailingStep(sessionId: string, stepId: string | undefined): void {
  if (stepId !== undefined) steps.set(sessionId, stepId)
}

export function takeFailingStep(sessionId: string): string | undefined {
  const stepId = steps.get(sessionId)
  steps.delete(sessionId)
  return stepId
}
