import type { SessionSummary } from '../session/session.ts'
import { wilson, type Interval, type ShareVerdict } from './statistics.ts'

export type TestIdentity = { file?: string; suite?: string; name: string }

/** Where a test stands in its repository. */
export type TestLocation = { path: string; line: number }

/** "suite > name", as test runners print it and as the filter `test` takes it. */
export function testTitle({ suite, name }: Pick<TestIdentity, 'suite' | 'name'>): string {
  return suite === undefined ? name : `${suite} > ${name}`
}

/** One session of a test and its result. */
export type AttemptResult = {
  kind: 'attempt'
  test: TestIdentity
  attempt: number
  variant?: string
  sessionId: string
  isPassed: boolean
  /** Why it failed. */
  message?: string
  /** The step that shows why. */
  stepId?: string
  url?: string
  durationMs: number
  location?: TestLocation
}

/** The result of running one test many times. */
export type AgentTestResult = {
  kind: 'agent-test'
  test: TestIdentity
  verdict: ShareVerdict
  /** True if the test runner reports the test as failed, which it may for an inconclusive one. */
  isFailed?: boolean
  passed: number
  total: number
  /** Planned runs. Fewer are made when the budget runs out or the result is already clear. */
  planned: number
  interval: Interval
  confidence: number
  minimum: number
  cost: number | null
  /** pass@k and pass^k for k = 1, 2, …: at least one of k tries passes, or all of them do. */
  passAtK: number[]
  passHatK: number[]
  note?: string
  location?: TestLocation
}

export type TestResult = AttemptResult | AgentTestResult

/** `flaky`: it failed at first and passed when retried. */
export type ReportVerdict = ShareVerdict | 'flaky'

export const reportVerdicts = [
  'fail',
  'inconclusive',
  'flaky',
  'pass',
] as const satisfies readonly ReportVerdict[]

export type ReportSession = {
  id: string
  isPassed: boolean
  attempt: number
  variant?: string
  message?: string
  stepId?: string
  url?: string
  cost: number | null
  durationMs: number | null
  /** Whether its replay is in the report. */
  isKept: boolean
}

export type ReportTest = TestIdentity & {
  location?: TestLocation
  verdict: ReportVerdict
  passed: number
  total: number
  interval: Interval
  /** The required pass rate, if it was judged by one. */
  wanted?: { minimum: number; confidence: number }
  passAtK?: number[]
  passHatK?: number[]
  note?: string
  cost: number | null
  durationMs: number
  sessions: ReportSession[]
}

/** The results of a test run. */
export type TestReport = {
  madeAt: string
  branch?: string
  commit?: string
  tests: ReportTest[]
  /** The sessions that belong to no test. */
  others: { sessionCount: number; cost: number | null }
}

/**
 * Groups sessions and results by test, failed tests first. Without results, the end states of the sessions are used.
 */
export function buildTestReport(
  sessions: readonly SessionSummary[],
  entries: readonly TestResult[],
  { madeAt, kept }: { madeAt: string; kept?: ReadonlySet<string> },
): TestReport {
  const byId = new Map(sessions.map((session) => [session.id, session]))
  const noted = entries.filter((entry) => entry.kind === 'attempt')
  const known = new Set(noted.map(({ sessionId }) => sessionId))
  const attempts = [...noted, ...sessions.filter(({ id }) => !known.has(id)).flatMap(toAttempt)]
  const judged = new Map(
    entries.filter((entry) => entry.kind === 'agent-test').map((entry) => [keyOf(entry.test), entry]),
  )
  const tests = [...Map.groupBy(attempts, ({ test }) => keyOf(test))].map(([key, ofTest]) =>
    toTest(ofTest, judged.get(key), { byId, kept }),
  )
  const inTests = new Set(attempts.map(({ sessionId }) => sessionId))
  const others = sessions.filter(({ id }) => !inTests.has(id))
  const vcs = sessions.find((session) => session.vcs !== undefined)?.vcs
  return {
    madeAt,
    ...(vcs?.branch !== undefined && { branch: vcs.branch }),
    ...(vcs?.commit !== undefined && { commit: vcs.commit }),
    tests: tests.toSorted(
      (left, right) => reportVerdicts.indexOf(left.verdict) - reportVerdicts.indexOf(right.verdict),
    ),
    others: { sessionCount: others.length, cost: sumOfCosts(others) },
  }
}

function keyOf({ file, suite, name }: TestIdentity): string {
  return JSON.stringify([file ?? null, suite ?? null, name])
}

/** Turns a session that names its test into an attempt. A running or lost session has no result. */
function toAttempt({ id, test, endState, endStateReason, durationMs, url }: SessionSummary): AttemptResult[] {
  if (test?.name === undefined || (endState !== 'success' && endState !== 'fail')) return []
  const { file, suite, name, variant, attempt = 1 } = test
  return [
    {
      kind: 'attempt',
      test: { name, ...(file !== undefined && { file }), ...(suite !== undefined && { suite }) },
      attempt,
      sessionId: id,
      isPassed: endState === 'success',
      durationMs: durationMs ?? 0,
      ...(variant !== undefined && { variant }),
      ...(url !== undefined && { url }),
      ...(endStateReason !== undefined && endState === 'fail' && { message: endStateReason }),
    },
  ]
}

type Sources = { byId: ReadonlyMap<string, SessionSummary>; kept: ReadonlySet<string> | undefined }

function toTest(
  attempts: readonly AttemptResult[],
  judged: AgentTestResult | undefined,
  { byId, kept }: Sources,
): ReportTest {
  const sessions = attempts.map((entry): ReportSession => {
    const { sessionId: id, kind: _, test: __, location: ___, ...rest } = entry
    const recorded = byId.get(id)
    const isKept = recorded !== undefined && (kept === undefined || kept.has(id))
    return { ...rest, id, cost: recorded?.cost ?? null, isKept }
  })
  const passed = sessions.filter(({ isPassed }) => isPassed).length
  const location = judged?.location ?? attempts.find((attempt) => attempt.location !== undefined)?.location
  return {
    ...attempts[0]!.test,
    ...(location !== undefined && { location }),
    verdict: judged?.isFailed === true ? 'fail' : (judged?.verdict ?? verdictOf(sessions)),
    passed,
    total: sessions.length,
    interval: judged?.interval ?? wilson(passed, sessions.length),
    ...(judged !== undefined && {
      wanted: { minimum: judged.minimum, confidence: judged.confidence },
      passAtK: judged.passAtK,
      passHatK: judged.passHatK,
    }),
    ...(judged?.note !== undefined && { note: judged.note }),
    cost: sumOfCosts(sessions),
    durationMs: attempts.reduce((sum, { durationMs }) => sum + durationMs, 0),
    sessions: inOrder(sessions, byId),
  }
}

function sumOfCosts(sessions: readonly { cost: number | null }[]): number | null {
  const costs = sessions.map(({ cost }) => cost).filter((cost) => cost !== null)
  return costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0)
}

/** Sorts by attempt, since parallel sessions may end in any order. */
function inOrder(sessions: readonly ReportSession[], byId: Sources['byId']): ReportSession[] {
  const startOf = ({ id }: ReportSession) => byId.get(id)?.startedAt ?? ''
  return sessions.toSorted(
    (left, right) => left.attempt - right.attempt || (startOf(left) < startOf(right) ? -1 : 1),
  )
}

/** A test passes when every input passed in the end. */
function verdictOf(sessions: readonly ReportSession[]): ReportVerdict {
  const inputs = [...Map.groupBy(sessions, ({ variant }) => variant ?? '').values()]
  const isPassed = inputs.every(
    (ofInput) => ofInput.toSorted((left, right) => left.attempt - right.attempt).at(-1)!.isPassed,
  )
  if (!isPassed) return 'fail'
  return sessions.every((session) => session.isPassed) ? 'pass' : 'flaky'
}
