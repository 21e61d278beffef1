import { wilson, type EndState, type TestHistory, type TestRun } from '@playhead/model'
import { z } from 'zod'
import type { Store } from '../store/connect.ts'
import { loadSql } from '../store/load-sql.ts'
import { DURATION_MS, STATE } from '../store/sessions-table.ts'
import { sessionConditions, sessionFilterSchema } from './session-filter.ts'

const figuresSql = loadSql(new URL('./test-figures.sql', import.meta.url))
const runsSql = loadSql(new URL('./test-runs.sql', import.meta.url))

export const testsQuerySchema = sessionFilterSchema
  .pick({ branch: true, environment: true, test: true, testFile: true, reruns: true, from: true, to: true })
  .extend({
    contains: z
      .string()
      .max(200)
      .optional()
      .describe("part of the test's name, suite or file, ignoring case"),
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(1_000)
      .default(500)
      .describe('how many tests to return, most recently run first'),
    runs: z.coerce
      .number()
      .int()
      .min(0)
      .max(200)
      .default(30)
      .describe('how many recent sessions to return for each test'),
  })

export type TestsQuery = z.infer<typeof testsQuerySchema>

/** Lists the tests that sessions of the project were recorded in, most recently run first. */
export async function listTests(
  { client, words }: Pick<Store, 'client' | 'words'>,
  project: string,
  query: TestsQuery,
): Promise<TestHistory[]> {
  const conditions = sessionConditions({ words }, project, query)
  conditions.sql += " AND test_name != ''"
  if (query.contains !== undefined && query.contains !== '') {
    conditions.sql +=
      " AND positionCaseInsensitiveUTF8(concat(test_file, ' ', test_suite, ' > ', test_name), {contains:String}) > 0"
    conditions.params.contains = query.contains
  }
  const values = { state: STATE, duration: DURATION_MS, conditions: conditions.sql }
  const read = async <Row>(sql: string) => {
    const query_params = { ...conditions.params, limit: query.limit, runs: query.runs }
    const result = await client.query({ query: sql, query_params, format: 'JSONEachRow' })
    return result.json<Row>()
  }
  const [figures, runs] = await Promise.all([
    read<FiguresRow>(figuresSql(values)),
    query.runs === 0 ? [] : read<RunRow>(runsSql(values)),
  ])
  const runsOf = Map.groupBy(runs, keyOf)
  return figures.map((row) => testFromRow(row, (runsOf.get(keyOf(row)) ?? []).map(runFromRow)))
}

type Identity = { file: string; suite: string; name: string }
type FiguresRow = Identity & {
  total: number
  passed: number
  failed: number
  variants: number
  cost: number | null
  durations: [number | null, number | null]
  last_run_ms: number
}
type RunRow = Identity & {
  session_id: string
  state: EndState
  started_ms: number
  duration_ms: number | null
  cost: number | null
  attempt: number | null
  variant: string
  run_id: string
  branch: string
  commit: string
}

function keyOf({ file, suite, name }: Identity): string {
  return JSON.stringify([file, suite, name])
}

function testFromRow(row: FiguresRow, runs: TestRun[]): TestHistory {
  const decided = row.passed + row.failed
  const [p50, p95] = row.durations
  return {
    ...(row.file !== '' && { file: row.file }),
    ...(row.suite !== '' && { suite: row.suite }),
    name: row.name,
    total: row.total,
    passed: row.passed,
    failed: row.failed,
    passRate: decided === 0 ? null : row.passed / decided,
    passInterval: wilson(row.passed, decided, 0.95),
    isFlaky: isFlaky(runs),
    variants: row.variants,
    cost: row.cost,
    durationMs: { p50, p95 },
    lastRunAt: new Date(row.last_run_ms).toISOString(),
    runs,
  }
}

function runFromRow(row: RunRow): TestRun {
  return {
    sessionId: row.session_id,
    endState: row.state,
    startedAt: new Date(row.started_ms).toISOString(),
    durationMs: row.duration_ms,
    cost: row.cost,
    ...(row.attempt !== null && { attempt: row.attempt }),
    ...(row.variant !== '' && { variant: row.variant }),
    ...(row.run_id !== '' && { runId: row.run_id }),
    ...(row.branch !== '' && { branch: row.branch }),
    ...(row.commit !== '' && { commit: row.commit }),
  }
}

type Outcome = { endState: EndState; commit?: string; runId?: string; variant?: string }

/**
 * Whether a test both passed and failed with the same code and input. The code is the same within a commit or, if the commit
 * is unknown, within a run of the suite. If neither is known, one change of outcome may be a fix, but two are flaky.
 * `runs` must be in order of time, oldest or newest first.
 */
export function isFlaky(runs: readonly Outcome[]): boolean {
  const decided = runs.filter(({ endState }) => endState === 'success' || endState === 'fail')
  const circumstances = Map.groupBy(decided, ({ commit, runId, variant = '' }) =>
    JSON.stringify([commit ?? runId ?? null, variant]),
  )
  return [...circumstances].some(([key, outcomes]) => {
    const isCodeKnown = !key.startsWith('[null')
    return changesOf(outcomes) >= (isCodeKnown ? 1 : 2)
  })
}

function changesOf(outcomes: readonly Outcome[]): number {
  return outcomes.filter(({ endState }, index) => index > 0 && endState !== outcomes[index - 1]!.endState)
    .length
}
