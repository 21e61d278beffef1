import {
  MAX_ITEMS,
  judgeSequence,
  readDuration,
  requireNumber,
  requireOneOf,
  requireOptions,
  type DurationText,
  type SequentialOptions,
} from '@playhead/model'
import type { SessionView } from 'playhead'
import { takeCassetteOption, type CassetteOption } from '../cassettes/cassette-option.ts'

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
  /** Answers each input from a file of its own, and records what the file lacks. */
  cassette?: CassetteOption | undefined
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

/** Throws a sentence if an option has a wrong value. */
export function requireAgentTestOptions(options: AgentTestOptions<unknown>): void {
  const { repeat, passRate, inconclusive, concurrency, budget, timeout } = options
  requireRepeat(repeat)
  takeCassetteOption(options)
  if (concurrency !== undefined)
    requireNumber(concurrency, 'The option concurrency', { min: 1, max: MAX_ITEMS })
  if (inconclusive !== undefined) requireOneOf(inconclusive, 'The option inconclusive', ['pass', 'fail'])
  if (timeout !== undefined)
    requireNumber(readDuration(timeout), 'The timeout', { min: 0, max: MAX_TIMEOUT_MS })
  const { usd, tokens } = requireOptions(budget, 'The option budget')
  for (const limit of [usd, tokens]) if (limit !== undefined) requireNumber(limit, 'A limit of the budget')
  if (passRate === undefined) return
  const { min, confidence = 0.95 } = requireOptions(passRate, 'The option passRate')
  requireNumber(min, 'The option passRate.min', { min: 0, max: 1 })
  requireNumber(confidence, 'The option passRate.confidence', { min: 0, max: 0.999_999 })
}

/** Timers can't wait longer. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

function requireRepeat(repeat: AgentTestOptions<unknown>['repeat']): void {
  const count = { min: 1, max: MAX_ITEMS }
  if (repeat === undefined) return
  if (typeof repeat === 'number') return void requireNumber(repeat, 'The option repeat', count)
  const {
    max,
    stop,
    p0 = 0.95,
    p1 = 0.8,
    alpha = 0.05,
    beta = 0.1,
  } = requireOptions(repeat, 'The option repeat')
  requireNumber(max, 'The option repeat.max', count)
  requireOneOf(stop, 'The option repeat.stop', ['sprt'])
  for (const share of [p0, p1, alpha, beta]) requireNumber(share, 'A rate of repeat', { min: 0, max: 1 })
  judgeSequence({ passed: 0, failed: 0 }, repeat)
}
