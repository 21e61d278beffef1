import type { ClickHouseClient } from '@clickhouse/client'
import type { Stats, StatsFigures, StatsGroup, StatsInterval, StatsScore, Usage } from '@playhead/model'
import { z } from 'zod'
import type { Store } from '../store/connect.ts'
import { loadSql } from '../store/load-sql.ts'
import { DURATION_MS, STATE } from '../store/sessions-table.ts'
import { statsIntervals } from '../api/schemas/statistics.ts'
import {
  scoreNumberOf,
  scoreWordOf,
  sessionConditions,
  sessionFilterSchema,
  type Conditions,
} from './session-filter.ts'

const statsGroups = [
  'model',
  'tool',
  'agent',
  'tag',
  'test',
  'error',
  'branch',
  'environment',
  'user',
] as const
export const statsQuerySchema = sessionFilterSchema.extend({
  interval: z
    .enum([...statsIntervals, 'auto'])
    .optional()
    .describe(
      'length of the buckets; "auto" chooses one for the time span of the filter; without it, no buckets are returned',
    ),
  zone: z
    .string()
    .default('UTC')
    .refine(isTimeZone, 'is not a known time zone')
    .describe('time zone that days, weeks and months begin in, such as "Europe/Berlin"'),
  groupBy: z.enum(statsGroups).optional(),
  scoreName: z
    .string()
    .max(100)
    .optional()
    .describe('adds the figures of this score: how many sessions have it, its mean and its words'),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000)
    .default(50)
    .describe('how many groups to return, largest first'),
})

export type StatsQuery = z.infer<typeof statsQuerySchema>

const totalsSql = loadSql(new URL('./stats-totals.sql', import.meta.url))
const groupsSql = loadSql(new URL('./stats-groups.sql', import.meta.url))

/** Counts, rates, cost and durations of the sessions that match a filter: in total, over time, and by group. */
export async function readStats(
  { client, words }: Pick<Store, 'client' | 'words'>,
  project: string,
  query: StatsQuery,
): Promise<Stats> {
  const conditions = sessionConditions({ words }, project, query)
  const [{ interval, totals, buckets }, groups] = await Promise.all([
    readTimeline(client, conditions, query),
    query.groupBy === undefined ? [] : readGroups(client, conditions, query.groupBy, query.limit),
  ])
  return {
    ...(totals === undefined ? emptyFigures : figures(totals)),
    ...(query.scoreName !== undefined && { score: scoreOf(totals) }),
    unpricedModels: totals?.unpriced_models.toSorted() ?? [],
    ...(interval !== undefined && { interval }),
    buckets: buckets.map((row) => ({
      at: row.key,
      ...figures(row),
      ...(query.scoreName !== undefined && { score: scoreOf(row) }),
    })),
    groups,
  }
}

/** Materialized, because ROLLUP does not work on a constant. */
const ONE_BUCKET = 'materialize(toDateTime(0))'

async function readTimeline(
  client: ClickHouseClient,
  conditions: Conditions,
  query: StatsQuery,
): Promise<{ interval: StatsInterval | undefined; totals: FiguresRow | undefined; buckets: FiguresRow[] }> {
  const interval =
    query.interval === 'auto' ? await suitableInterval(client, conditions, query) : query.interval
  const { zone, scoreName } = query
  const params = { ...conditions.params, zone, ...(scoreName !== undefined && { scoreName }) }
  const start = interval === undefined ? ONE_BUCKET : bucketStart(interval)
  const rows = await readFigures(client, { sql: conditions.sql, params }, start)
  return {
    interval,
    totals: rows.find((row) => row.is_total === 1),
    buckets: interval === undefined ? [] : rows.filter((row) => row.is_total === 0),
  }
}

/** Without a start time in the filter, uses the earliest session that matches. Rows that are not merged yet do no harm here. */
async function suitableInterval(
  client: ClickHouseClient,
  conditions: Conditions,
  { from, to }: StatsQuery,
): Promise<StatsInterval> {
  if (from !== undefined) return intervalFor((to ?? Date.now()) - from)
  const result = await client.query({
    query: `SELECT toUnixTimestamp64Milli(min(started_at)) AS first, toUnixTimestamp64Milli(max(started_at)) AS last
      FROM sessions WHERE ${conditions.sql} AND is_deleted = 0`,
    query_params: conditions.params,
    format: 'JSONEachRow',
  })
  const [extent] = await result.json<{ first: number; last: number }>()
  return intervalFor(extent === undefined ? 0 : (to ?? Date.now()) - extent.first)
}

type FiguresRow = {
  key: string
  is_total: 0 | 1
  total: number
  success: number
  fail: number
  indeterminate: number
  running: number
  lost: number
  cost: number | null
  usage: Usage
  durations: [number | null, number | null, number | null]
  unpriced_models: string[]
  scored: number
  score_mean: number | null
  score_words: Record<string, number>
}

async function readFigures(
  client: ClickHouseClient,
  conditions: Conditions,
  start: string,
): Promise<FiguresRow[]> {
  const isScored = conditions.params.scoreName !== undefined
  const result = await client.query({
    query: totalsSql({
      bucket_start: start,
      state: STATE,
      duration: DURATION_MS,
      conditions: conditions.sql,
      score_number: isScored ? scoreNumberOf('scoreName') : "CAST(NULL, 'Nullable(Float64)')",
      score_word: isScored ? `toString(${scoreWordOf('scoreName')})` : "''",
    }),
    query_params: conditions.params,
    format: 'JSONEachRow',
  })
  return result.json<FiguresRow>()
}

/** The action that caused the error, if it is certain: the session has one error and one failed action. */
const FAILED_ACTION =
  "if(length(error_prints) = 1 AND arraySum(action_failed) = 1, toString(action_names[indexOf(action_failed, 1)]), '')"

/** The items of a session for each grouping, as (key, cost, input, output, duration, failed, example, action) of a call or of the session. */
const groupItems: Record<(typeof statsGroups)[number], string> = {
  model:
    'arrayZip(call_models, call_costs, call_inputs, call_outputs, call_durations, call_failed, call_models, call_models)',
  tool: "arrayMap((name, ms, failed) -> (name, CAST(NULL, 'Nullable(Float64)'), CAST(NULL, 'Nullable(UInt64)'), CAST(NULL, 'Nullable(UInt64)'), ms, failed, '', ''), action_names, action_durations, action_failed)",
  agent: perSession('arrayDistinct(agents)'),
  tag: perSession('arrayDistinct(tags)'),
  test: perSession(
    "if(test_name = '', [], [if(test_suite = '', test_name, concat(test_suite, ' > ', test_name))])",
  ),
  branch: perSession("if(branch = '', [], [branch])"),
  environment: perSession("if(environment = '', [], [environment])"),
  user: perSession("if(user_id = '', [], [user_id])"),
  error: `arrayMap((print, type, message) -> (print, cost, ${tokens('input')}, ${tokens('output')}, ${floatDuration()}, toUInt8(1), concat(type, ': ', message), ${FAILED_ACTION}), error_prints, error_types, error_messages)`,
}

function perSession(keys: string): string {
  return `arrayMap(key -> (key, cost, ${tokens('input')}, ${tokens('output')}, ${floatDuration()}, toUInt8(0), '', ''), ${keys})`
}

function tokens(field: string): string {
  return `if(mapContains(usage, '${field}'), usage['${field}'], NULL)`
}

function floatDuration(): string {
  return `CAST(${DURATION_MS}, 'Nullable(Float32)')`
}

type SessionFigures = Omit<
  FiguresRow,
  'key' | 'is_total' | 'unpriced_models' | 'scored' | 'score_mean' | 'score_words'
>

type GroupRow = SessionFigures & {
  key: string
  calls: number
  failed_calls: number
  example: string
  action: string
  last_session: string
}

async function readGroups(
  client: ClickHouseClient,
  conditions: Conditions,
  group: (typeof statsGroups)[number],
  limit: number,
): Promise<StatsGroup[]> {
  const result = await client.query({
    query: groupsSql({ items: groupItems[group], state: STATE, conditions: conditions.sql }),
    query_params: { ...conditions.params, limit },
    format: 'JSONEachRow',
  })
  const isPerCall = group === 'model' || group === 'tool'
  return (await result.json<GroupRow>()).map((row) => ({
    key: row.key,
    ...figures(row),
    ...(isPerCall && { calls: row.calls, failedCalls: row.failed_calls }),
    ...(group === 'error' && {
      calls: row.calls,
      example: {
        sessionId: row.last_session,
        message: row.example,
        ...(row.action !== '' && { action: row.action }),
      },
    }),
  }))
}

function scoreOf(row: FiguresRow | undefined): StatsScore {
  return { count: row?.scored ?? 0, mean: row?.score_mean ?? null, words: row?.score_words ?? {} }
}

function figures(row: SessionFigures): StatsFigures {
  const ended = row.success + row.fail
  const [p50, p95, p99] = row.durations
  return {
    total: row.total,
    success: row.success,
    fail: row.fail,
    indeterminate: row.indeterminate,
    running: row.running,
    lost: row.lost,
    failureRate: ended === 0 ? null : row.fail / ended,
    cost: row.cost,
    usage: row.usage,
    durationMs: { p50, p95, p99 },
  }
}

const emptyFigures: StatsFigures = {
  total: 0,
  success: 0,
  fail: 0,
  indeterminate: 0,
  running: 0,
  lost: 0,
  failureRate: null,
  cost: null,
  usage: {},
  durationMs: { p50: null, p95: null, p99: null },
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const intervals = {
  minute: { ms: MINUTE_MS, sql: '1 MINUTE' },
  '5-minutes': { ms: 5 * MINUTE_MS, sql: '5 MINUTE' },
  '15-minutes': { ms: 15 * MINUTE_MS, sql: '15 MINUTE' },
  hour: { ms: HOUR_MS, sql: '1 HOUR' },
  '6-hours': { ms: 6 * HOUR_MS, sql: '6 HOUR' },
  day: { ms: DAY_MS, sql: '1 DAY' },
  week: { ms: 7 * DAY_MS, sql: '1 WEEK' },
  month: { ms: 30 * DAY_MS, sql: '1 MONTH' },
} as const satisfies Record<StatsInterval, { ms: number; sql: string }>

const MAX_BUCKETS = 100

/** The shortest interval that keeps a time span within a readable number of buckets. */
export function intervalFor(spanMs: number): StatsInterval {
  return statsIntervals.find((name) => spanMs / intervals[name].ms <= MAX_BUCKETS) ?? 'month'
}

/** SQL for the start of a session's bucket. `{zone:String}` is the time zone that days begin in. */
function bucketStart(interval: StatsInterval): string {
  // For weeks and months the engine returns dates, but the result must be an instant.
  return `toDateTime(toStartOfInterval(toDateTime(started_at, {zone:String}), INTERVAL ${intervals[interval].sql}), {zone:String})`
}

export function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
