import {
  describeValue,
  isCostIncomplete,
  judgeSequence,
  readDuration,
  requireItems,
  requireOptions,
  testTitle,
  totalTokens,
  type AgentTestResult,
  type TestIdentity,
} from '@playhead/model'
import type { SessionView } from 'playhead'
import { readCassetteOption } from '../cassettes/cassette-option.ts'
import type { CassetteTest } from '../cassettes/run-with-cassette.ts'
import { requireAgentTestOptions, type AgentTestBody, type AgentTestOptions } from './agent-test.ts'
import { addDivergences } from './divergence.ts'
import { judgeRuns, type FinishedRun } from './judge-runs.ts'
import { plainMessage, recordTest, runBody, type TestAttempt, type TestFailure } from './record-test.ts'
import { locateDefinition } from './test-location.ts'
import { saveResult } from './test-run.ts'

const DEFAULT_TIMEOUT = '60s'

export type AgentTestPlan<Input> = {
  options: AgentTestOptions<Input>
  runs: PlannedRun<Input>[]
  /** Upper bound for all runs together; each run also has its own timeout. */
  timeoutMs: number
  /** The stack above the call of `test.agent`. */
  definedAt: string
}

const SPARE_MS = 10_000

/** Reads the inputs only once, because they may come from a generator. */
export function planAgentTest<Input>(
  given: AgentTestOptions<Input>,
  definedAt: string,
): AgentTestPlan<Input> {
  const options = requireOptions(given)
  requireAgentTestOptions(options)
  const inputs = requireItems(options.inputs ?? [undefined as Input], 'The inputs')
  if (inputs.length === 0) throw new TypeError('test.agent needs at least one input.')
  const runs = planRuns(inputs, options)
  const rounds = Math.ceil(runs.length / workersOf(options))
  const timeoutMs = rounds * readDuration(options.timeout ?? DEFAULT_TIMEOUT) + SPARE_MS
  return { options, runs, timeoutMs, definedAt }
}

function workersOf({ concurrency = 1 }: { concurrency?: number | undefined }): number {
  return Math.max(1, Math.floor(concurrency))
}

/** Runs the agent with every input as often as planned and judges the runs together. Throws when the test fails. */
export async function runAgentTest<Input>(
  identity: TestIdentity,
  { options, runs, definedAt }: AgentTestPlan<Input>,
  body: AgentTestBody<Input>,
  testFile = '',
): Promise<AgentTestResult> {
  const settings = readCassetteOption(options.cassette)
  const cassette = settings && { settings, testFile, title: testTitle(identity) }
  const queue = runs.values()
  const results = new Map<PlannedRun<Input>, FinishedRun>()
  const views = new Map<string, SessionView>()
  const work = async () => {
    for (const planned of queue) {
      results.set(
        planned,
        await runOnce({ ...identity, definedAt, cassette }, planned, { options, body, views }),
      )
      if (shouldStop([...results.values()], options)) return
    }
  }
  await Promise.all(Array.from({ length: Math.min(workersOf(options), runs.length) }, work))
  // In the order of the plan, so that the same failure always gives the same message.
  const finished = runs.flatMap((planned) => results.get(planned) ?? [])
  addDivergences(finished, views)
  const isBudgetSpent = isSpent(finished, options.budget)
  const { result, failure } = judgeRuns(identity, finished, { planned: runs.length, options, isBudgetSpent })
  const location = locateDefinition(definedAt, identity.file)
  saveResult({ ...result, ...(location !== undefined && { location }) })
  if (failure !== undefined) throw failure
  return result
}

type PlannedRun<Input> = { input: Input; variant: string; attempt: number }

/** Goes through all inputs before repeating any, so that stopping early has tried each of them. */
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

const MAX_NAME_LENGTH = 120

/** A string names itself; an object may have a `name` or `label`. */
function nameInput(input: unknown, index: number): string {
  const { name, label } = (input ?? {}) as { name?: unknown; label?: unknown }
  const given = typeof input === 'string' ? input : (name ?? label)
  if (typeof given === 'string' && given !== '') return given.slice(0, MAX_NAME_LENGTH)
  return input === undefined
    ? 'no input'
    : typeof input === 'function' || typeof input === 'symbol'
      ? `input ${index + 1}`
      : describeValue(input, MAX_NAME_LENGTH)
}

async function runOnce<Input>(
  { cassette: shared, ...identity }: TestIdentity & { definedAt: string; cassette: CassetteTest | undefined },
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
    isCostIncomplete: false,
    tokens: 0,
    sessionId: '',
    url: '',
  }
  const given = options.inputs === undefined ? {} : { variant }
  const cassette = shared && { cassette: { ...shared, ...given } }
  const test: TestAttempt = { ...identity, attempt, ...given, isLinkPrinted: true, ...cassette }
  const recorded = await recordTest(test, async (session) => {
    const failure = await runWithTimeout(options.timeout ?? DEFAULT_TIMEOUT, (signal) =>
      runBody(test, session, () => body({ input, session, variant, attempt, signal })),
    )
    fillIn(finished, session, failure)
    views.set(session.id, session)
    return failure
  })
  return { ...finished, ...recorded }
}

function fillIn(finished: FinishedRun, session: SessionView, failure: TestFailure | undefined): void {
  const summary = session.toJSON().session
  const { usage, cost } = summary
  Object.assign(finished, {
    isPassed: failure === undefined,
    cost,
    isCostIncomplete: isCostIncomplete(summary),
    tokens: totalTokens(usage) ?? 0,
    sessionId: session.id,
    url: session.url,
    ...(failure !== undefined && { message: plainMessage(failure.error) }),
  })
}

async function runWithTimeout(
  timeout: string | number,
  run: (signal: AbortSignal) => unknown,
): Promise<TestFailure | undefined> {
  const limitMs = readDuration(timeout)
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const timedOut = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new Error(`The run timed out after ${limitMs} ms.`)
      error.name = 'TimeoutError'
      controller.abort(error)
      reject(error)
    }, limitMs)
  })
  try {
    await Promise.race([(async () => run(controller.signal))(), timedOut])
    return undefined
  } catch (error) {
    return { error }
  } finally {
    clearTimeout(timer)
  }
}

/** True when the budget is spent or the sequential test has reached a verdict. */
function shouldStop<Input>(
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
