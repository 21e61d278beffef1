import { judgeSequence, type AgentTestResult, type TestIdentity } from '@playhead/model'
import type { SessionView } from 'playhead'
import { readDuration } from '../matchers/duration.ts'
import type { AgentTestBody, AgentTestOptions } from './agent-test.ts'
import { noteDivergences } from './divergence.ts'
import { judgeRuns, type FinishedRun } from './judge-runs.ts'
import { plainMessage, recordTest, type TestFailure } from './record-test.ts'
import { noteResult } from './test-run.ts'

const DEFAULT_TIMEOUT = '60s'

export type AgentTestPlan<Input> = {
  options: AgentTestOptions<Input>
  runs: PlannedRun<Input>[]
  /** The longest that all runs can take together; each run has its own limit. */
  timeoutMs: number
}

const SPARE_MS = 10_000

/** Reads the inputs, once: they may be a generator's. */
export function planAgentTest<Input>(options: AgentTestOptions<Input>): AgentTestPlan<Input> {
  const inputs = [...(options.inputs ?? [undefined as Input])]
  if (inputs.length === 0) throw new TypeError('test.agent needs at least one input.')
  const runs = planRuns(inputs, options)
  const rounds = Math.ceil(runs.length / workersOf(options))
  return { options, runs, timeoutMs: rounds * readDuration(options.timeout ?? DEFAULT_TIMEOUT) + SPARE_MS }
}

function workersOf({ concurrency = 1 }: { concurrency?: number | undefined }): number {
  return Math.max(1, Math.floor(concurrency))
}

/** Runs the agent with every input, as often as asked, and judges them together; throws when the test has failed. */
export async function runAgentTest<Input>(
  identity: TestIdentity,
  { options, runs }: AgentTestPlan<Input>,
  body: AgentTestBody<Input>,
): Promise<AgentTestResult> {
  const queue = runs.values()
  const results = new Map<PlannedRun<Input>, FinishedRun>()
  const views = new Map<string, SessionView>()
  const work = async () => {
    for (const planned of queue) {
      results.set(planned, await runOnce(identity, planned, { options, body, views }))
      if (isEnough([...results.values()], options)) return
    }
  }
  await Promise.all(Array.from({ length: Math.min(workersOf(options), runs.length) }, work))
  // In the order of the plan, whichever was done first: the same failure is then told in the same words.
  const finished = runs.flatMap((planned) => results.get(planned) ?? [])
  noteDivergences(finished, views)
  const { entry, failure } = judgeRuns(identity, finished, { planned: runs.length, options })
  noteResult(entry)
  if (failure !== undefined) throw failure
  return entry
}

type PlannedRun<Input> = { input: Input; variant: string; attempt: number }

/** Every input once, then every input again: what stops early has seen them all. */
function planRuns<Input>(
  inputs: readonly Input[],
  { repeat = 1 }: AgentTestOptions<Input>,
): PlannedRun<Input>[] {
  const times = typeof repeat === 'number' ? repeat : Math.ceil(repeat.max / inputs.length)
  const limit = typeof repeat === 'number' ? Infinity : repeat.max
  const rounds = Array.from({ length: Math.max(1, Math.floor(times)) }, (_, index) => index + 1)
  return rounds
    .flatMap((attempt) =>
      inputs.map((input, index) => ({ input, variant: nameInput(input, index), attempt })),
    )
    .slice(0, limit)
}

const LONGEST_NAME = 120

/** A text is its own name; an object is called what it calls itself. */
function nameInput(input: unknown, index: number): string {
  const { name, label } = (input ?? {}) as { name?: unknown; label?: unknown }
  const given = typeof input === 'string' ? input : (name ?? label)
  if (typeof given === 'string' && given !== '') return given.slice(0, LONGEST_NAME)
  return input === undefined
    ? 'no input'
    : (JSON.stringify(input)?.slice(0, LONGEST_NAME) ?? `input ${index + 1}`)
}

async function runOnce<Input>(
  identity: TestIdentity,
  { input, variant, attempt }: PlannedRun<Input>,
  {
    options,
    body,
    views,
  }: { options: AgentTestOptions<Input>; body: AgentTestBody<Input>; views: Map<string, SessionView> },
): Promise<FinishedRun> {
  const finished: FinishedRun = {
    variant,
    attempt,
    isPassed: true,
    cost: null,
    tokens: 0,
    sessionId: '',
    url: '',
  }
  const given = options.inputs === undefined ? {} : { variant }
  const shown = await recordTest(
    { ...identity, attempt, ...given, isToldElsewhere: true },
    async (session) => {
      const failure = await withinTime(options.timeout ?? DEFAULT_TIMEOUT, (signal) =>
        body({ input, session, variant, attempt, signal }),
      )
      describe(finished, session, failure)
      views.set(session.id, session)
      return failure
    },
  )
  return { ...finished, ...shown }
}

function describe(finished: FinishedRun, session: SessionView, failure: TestFailure | undefined): void {
  const { usage, cost } = session.toJSON().session
  Object.assign(finished, {
    isPassed: failure === undefined,
    cost,
    tokens: usage.total ?? (usage.input ?? 0) + (usage.output ?? 0),
    sessionId: session.id,
    url: session.url,
    ...(failure !== undefined && { message: plainMessage(failure.error) }),
  })
}

async function withinTime(
  timeout: string | number,
  run: (signal: AbortSignal) => unknown,
): Promise<TestFailure | undefined> {
  const limitMs = readDuration(timeout)
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new Error(`It was not done after ${limitMs} ms.`)
      error.name = 'TimeoutError'
      controller.abort(error)
      reject(error)
    }, limitMs)
  })
  try {
    await Promise.race([(async () => run(controller.signal))(), late])
    return undefined
  } catch (error) {
    return { error }
  } finally {
    clearTimeout(timer)
  }
}

/** Whether no further run is to be begun: the money is spent, or enough is known. */
function isEnough<Input>(
  finished: readonly FinishedRun[],
  { budget, repeat }: AgentTestOptions<Input>,
): boolean {
  if (isSpent(finished, budget)) return true
  if (typeof repeat !== 'object') return false
  const passed = finished.filter(({ isPassed }) => isPassed).length
  return judgeSequence({ passed, failed: finished.length - passed }, repeat) !== 'inconclusive'
}

function isSpent(finished: readonly FinishedRun[], budget: AgentTestOptions<unknown>['budget']): boolean {
  const { usd = Infinity, tokens = Infinity } = budget ?? {}
  const total = (of: (run: FinishedRun) => number) => finished.reduce((sum, run) => sum + of(run), 0)
  return total(({ cost }) => cost ?? 0) >= usd || total((run) => run.tokens) >= tokens
}
