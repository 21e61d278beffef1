// Checks of sessions without a test runner: for scripts, and for runners without an integration.
import { requireNode } from './runtime/node-version.ts'

requireNode()

export {
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
} from './testing/matchers/checks.ts'
export {
  anyOrder,
  before,
  directlyBefore,
  neverBoth,
  type AgentCall,
  type AnyOrder,
  type ArgumentMode,
  type ArgumentOptions,
  type CalledOptions,
  type CostLimit,
  type DurationText,
  type EffectsOptions,
  type ErrorOptions,
  type ExpectedArguments,
  type ExpectedCall,
  type FinishOptions,
  type InOrderOptions,
  type LoopOptions,
  type OrderRule,
  type SessionSubject,
  type ToolCall,
  type TrajectoryMode,
  type TrajectoryOptions,
} from '@playhead/model'
export { judged, type Judge, type Judgement, type JudgeOptions } from './testing/matchers/judge.ts'
export { expectSession, type SessionExpectation, type SessionMatchers } from './testing/matchers/matchers.ts'
export type { AgentRun, AgentTest, AgentTestBody, AgentTestOptions } from './testing/runs/agent-test.ts'
export { nullArguments } from './testing/sessions/null-arguments.ts'
export { runAgent, type RunAgentOptions, type RunInput } from './testing/runs/run-agent.ts'
export { variations, Variations } from './testing/runs/variations.ts'
export { fetchSession, openRecording, type FetchOptions } from './testing/sessions/load-session.ts'
