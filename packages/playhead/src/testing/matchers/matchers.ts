import { AssertionError } from 'node:assert'
import {
  readSubject,
  safeForLog,
  type CalledOptions,
  type CostLimit,
  type DurationText,
  type EffectsOptions,
  type ErrorOptions,
  type ExpectedCall,
  type FinishOptions,
  type InOrderOptions,
  type LoopOptions,
  type OrderRule,
  type SessionSubject,
  type TrajectoryOptions,
} from '@playhead/model'
import {
  called,
  calledInOrder,
  costsLessThan,
  finishesWithin,
  hasEffects,
  hasNoErrors,
  hasNoLoops,
  matchesTrajectory,
  satisfiesOrder,
  type Verdict,
} from './checks.ts'
import { judged, type Judge, type JudgeOptions } from './judge.ts'

/** The matchers of `expect(session)` that answer at once. */
type DirectMatchers<Returned> = {
  /** The session called an action, optionally with which arguments and how often. */
  toHaveCalled(name: string, options?: CalledOptions): Returned
  /** The session called these actions in this order; other calls may come in between. */
  toHaveCalledInOrder(calls: readonly ExpectedCall[], options?: InOrderOptions): Returned
  /** The calls satisfy rules about their order: `before("fetch_customer_data", "issue_refund")`. */
  toSatisfyOrder(...rules: readonly OrderRule[]): Returned
  /** The calls match a list; `mode` decides how strictly. */
  toMatchTrajectory(calls: readonly ExpectedCall[], options?: TrajectoryOptions): Returned
  /** The session made exactly these writes, whatever it read. */
  toHaveEffects(calls: readonly ExpectedCall[], options?: EffectsOptions): Returned
  /** The session cost less than this: US dollars, or `{ usd, tokens, llmCalls }`. */
  toCostLessThan(limit: number | CostLimit): Returned
  /** The session finished in time: "8s". */
  toFinishWithin(limit: DurationText, options?: FinishOptions): Returned
  /** No step threw an error, and no tool returned one. */
  toHaveNoErrors(options?: ErrorOptions): Returned
  /** No call with the same arguments was made more than twice. */
  toHaveNoLoops(options?: LoopOptions): Returned
}

/** The matchers of `expect(session)`. */
export type SessionMatchers<Returned = void> = DirectMatchers<Returned> & {
  /** A judge that you write accepts the session: `await expect(session).toBeJudged(async (session) => …)`. */
  toBeJudged(judge: Judge, options?: JudgeOptions): Promise<void>
}

export type MatcherName = keyof DirectMatchers<void>

/** The function behind each matcher. */
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

type ExtendedMatcher = (this: unknown, subject: SessionSubject, ...args: never[]) => Matched

type Matched = { pass: boolean; message: () => string }

/** Notes the step of a check that failed, in the shape that `expect.extend` expects. */
function matched(subject: SessionSubject, verdict: Verdict, isNot: boolean): Matched {
  const { pass, message, stepId, isUndecided } = verdict
  // An undecided check fails both with and without `.not`.
  if (isUndecided === true || pass === isNot) noteFailingStep(readSubject(subject).session.id, stepId)
  return { pass: isUndecided === true ? isNot : pass, message: () => safeForLog(message) }
}

const directMatchers = Object.fromEntries(
  Object.entries(verdictsOf).map(([name, verdictOf]) => [
    name,
    function (this: unknown, subject, ...args) {
      return matched(subject, verdictOf(subject, ...args), isNegated(this))
    } satisfies ExtendedMatcher,
  ]),
) as { [Name in MatcherName]: ExtendedMatcher }

/** The matchers in the shape that `expect.extend` of vitest and jest expects. */
export const extendedMatchers = {
  ...directMatchers,
  async toBeJudged(this: unknown, subject: SessionSubject, judge: Judge, options?: JudgeOptions) {
    return matched(subject, await judged(subject, judge, options), isNegated(this))
  },
}

function isNegated(context: unknown): boolean {
  return (context as { isNot?: boolean } | undefined)?.isNot === true
}

export type SessionExpectation = SessionMatchers & { not: SessionMatchers }

/**
 * The matchers for runners without an `expect` of their own, and for scripts without a runner.
 *
 * @example
 * expectSession(await openRecording("refund.json")).not.toHaveCalled("issue_refund")
 */
export function expectSession(session: SessionSubject): SessionExpectation {
  return { ...matchersFor(session, false), not: matchersFor(session, true) }
}

function matchersFor(session: SessionSubject, isNot: boolean): SessionMatchers {
  const entries = Object.entries(directMatchers).map(([name, matcher]) => {
    const check = (...args: never[]) => {
      const { pass, message } = matcher.call({ isNot }, session, ...args)
      if (pass === isNot) throw new AssertionError({ message: message(), stackStartFn: check })
    }
    return [name, check]
  })
  const toBeJudged: SessionMatchers['toBeJudged'] = async (judge, options) => {
    const { pass, message } = await extendedMatchers.toBeJudged.call({ isNot }, session, judge, options)
    if (pass === isNot) throw new AssertionError({ message: message(), stackStartFn: toBeJudged })
  }
  return { ...Object.fromEntries(entries), toBeJudged } as SessionMatchers
}

/** The step shown by the last failed matcher of each session, by session id. */
const failingSteps = new Map<string, string>()

function noteFailingStep(sessionId: string, stepId: string | undefined): void {
  if (stepId !== undefined) failingSteps.set(sessionId, stepId)
}

export function takeFailingStep(sessionId: string): string | undefined {
  const stepId = failingSteps.get(sessionId)
  failingSteps.delete(sessionId)
  return stepId
}
