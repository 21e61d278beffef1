// Checks of sessions without a test runner: for scripts, and for runners without an integration.
import { requireNode } from './runtime/node-version.ts'

requireNode()

export { called, type CalledOptions } from './testing/matchers/called.ts'
export { costsLessThan, type CostLimit } from './testing/matchers/cost.ts'
export { finishesWithin, type DurationText, type FinishOptions } from './testing/matchers/duration.ts'
export { hasNoErrors, type ErrorOptions } from './testing/matchers/errors.ts'
export {
  anyOrder,
  type AgentCall,
  type AnyOrder,
  type ExpectedCall,
  type ToolCall,
  type TrajectoryMode,
} from './testing/matchers/expected-call.ts'
export { hasNoLoops, type LoopOptions } from './testing/matchers/loops.ts'
export type { ArgumentMode, ArgumentOptions, ExpectedArguments } from './testing/matchers/match-arguments.ts'
export { expectSession, type SessionExpectation, type SessionMatchers } from './testing/matchers/matchers.ts'
export {
  before,
  directlyBefore,
  neverBoth,
  satisfiesOrder,
  type OrderRule,
} from './testing/matchers/order-rules.ts'
export {
  calledInOrder,
  hasEffects,
  matchesTrajectory,
  type EffectsOptions,
  type InOrderOptions,
  type TrajectoryOptions,
} from './testing/matchers/trajectory.ts'
export type { Verdict } from './testing/matchers/verdict.ts'
export type { AgentRun, AgentTest, AgentTestBody, AgentTestOptions } from './testing/runs/agent-test.ts'
export { variations, Variations } from './testing/runs/variations.ts'
export { fetchSession, openRecording, type FetchOptions } from './testing/sessions/load-session.ts'
export type { SessionSubject } from './testing/sessions/session-subject.ts'
