// What a session can be asked, without a test runner: for scripts, and for runners that have no integration.
export { called, type CalledOptions } from './testing/called.ts'
export { costsLessThan, type CostLimit } from './testing/cost.ts'
export { finishesWithin, type DurationText, type FinishOptions } from './testing/duration.ts'
export { hasEffects, type EffectsOptions } from './testing/effects.ts'
export { hasNoErrors, type ErrorOptions } from './testing/errors.ts'
export {
  anyOrder,
  type AgentCall,
  type AnyOrder,
  type ExpectedCall,
  type ToolCall,
  type TrajectoryMode,
} from './testing/expected-call.ts'
export { expectSession, type SessionExpectation } from './testing/expect-session.ts'
export { fetchSession, type FetchOptions } from './testing/fetch-session.ts'
export { hasNoLoops, type LoopOptions } from './testing/loops.ts'
export type { ArgumentMode, ArgumentOptions, ExpectedArguments } from './testing/match-arguments.ts'
export type { SessionMatchers } from './testing/matchers.ts'
export { openRecording } from './testing/open-recording.ts'
export { before, directlyBefore, neverBoth, satisfiesOrder, type OrderRule } from './testing/order-rules.ts'
export type { SessionSubject } from './testing/session-subject.ts'
export {
  calledInOrder,
  matchesTrajectory,
  type InOrderOptions,
  type TrajectoryOptions,
} from './testing/trajectory.ts'
export { variations, Variations } from './testing/variations.ts'
export type { Verdict } from './testing/verdict.ts'
export type { AgentRun, AgentTest, AgentTestBody, AgentTestOptions } from './testing/agent-test.ts'
