import type { SequentialOptions } from '@playhead/model'
import type { SessionView } from 'playhead'
import type { DurationText } from '../matchers/duration.ts'

/** How the runs of a `test.agent` are made and judged. */
export type AgentTestOptions<Input> = {
  /** The inputs to try; each is a variant with sessions of its own. Without inputs the agent runs once. */
  inputs?: Iterable<Input> | undefined
  /** Runs per input; 1 by default. `stop: "sprt"` stops as soon as the result is certain, after at most `max` runs in all. */
  repeat?: number | ({ max: number; stop: 'sprt' } & SequentialOptions) | undefined
  /** The pass rate to reach; every run must pass when omitted. */
  passRate?: { min: number; confidence?: number | undefined } | undefined
  /** Whether an inconclusive test passes or fails. When omitted it passes if the observed pass rate reaches the minimum. */
  inconclusive?: 'pass' | 'fail' | undefined
  /** How many runs execute concurrently; 1 by default. */
  concurrency?: number | undefined
  /** No new run starts once this much was spent. */
  budget?: { usd?: number | undefined; tokens?: number | undefined } | undefined
  /** The timeout of a single run; "60s" by default. */
  timeout?: DurationText | undefined
}

/** What the test function receives. */
export type AgentRun<Input> = {
  input: Input
  session: SessionView
  /** The input's name in reports. */
  variant: string
  /** The number of this run for its input, from 1. */
  attempt: number
  /** Aborted when the run times out. */
  signal: AbortSignal
}

export type AgentTestBody<Input> = (run: AgentRun<Input>) => unknown

type DefineAgentTest = <Input>(
  name: string,
  options: AgentTestOptions<Input>,
  body: AgentTestBody<Input>,
) => void

/** `test.agent`: tests an agent with many inputs and runs. */
export type AgentTest = DefineAgentTest & { only: DefineAgentTest; skip: DefineAgentTest }

/** Creates `test.agent` for a runner; `define` returns the function that registers a test in the given mode. */
export function makeAgentTest(define: (mode: 'run' | 'only' | 'skip') => DefineAgentTest): AgentTest {
  return Object.assign(define('run'), { only: define('only'), skip: define('skip') })
}
