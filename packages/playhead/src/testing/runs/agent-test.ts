import type { SequentialOptions } from '@playhead/model'
import type { SessionView } from 'playhead'
import type { DurationText } from '../matchers/duration.ts'

/** How a test with many sessions is run and judged. */
export type AgentTestOptions<Input> = {
  /** What the agent is tried with; each is a variant with sessions of its own. One try without input when left out. */
  inputs?: Iterable<Input> | undefined
  /** Runs per input; 1 by default. With `stop: "sprt"` no more than it takes to know, and `max` in all at most. */
  repeat?: number | ({ max: number; stop: 'sprt' } & SequentialOptions) | undefined
  /** How often it must pass; every time when left out. */
  passRate?: { min: number; confidence?: number | undefined } | undefined
  /**
   * What the test does when the runs can't tell whether the pass rate is reached. When left out it passes if the runs
   * themselves reach it.
   */
  inconclusive?: 'pass' | 'fail' | undefined
  /** How many sessions run at the same time; 1 by default. */
  concurrency?: number | undefined
  /** No new run is begun when so much has been spent. */
  budget?: { usd?: number | undefined; tokens?: number | undefined } | undefined
  /** How long a single run may take; "60s" by default. */
  timeout?: DurationText | undefined
}

/** What the function of such a test is given. */
export type AgentRun<Input> = {
  input: Input
  session: SessionView
  /** What the input is called in reports. */
  variant: string
  /** Which run of this input it is, from 1. */
  attempt: number
  /** Aborted when the run has taken too long. */
  signal: AbortSignal
}

export type AgentTestBody<Input> = (run: AgentRun<Input>) => unknown

type DefineAgentTest = <Input>(
  name: string,
  options: AgentTestOptions<Input>,
  body: AgentTestBody<Input>,
) => void

/** The test of one agent over many inputs, as `test.agent`. */
export type AgentTest = DefineAgentTest & { only: DefineAgentTest; skip: DefineAgentTest }

/** Makes `test.agent` for a runner: `define` registers a test with it, for each of its three ways to do so. */
export function makeAgentTest(define: (way: 'run' | 'only' | 'skip') => DefineAgentTest): AgentTest {
  return Object.assign(define('run'), { only: define('only'), skip: define('skip') })
}
