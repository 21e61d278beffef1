import type { ClickHouseClient } from '@clickhouse/client'
import type { Usage } from '@playhead/model'
import { z } from 'zod'
import { loadSql } from './load-sql.ts'
import {
  DURATION_MS,
  sessionConditions,
  sessionFilterSchema,
  STATE,
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
const statsIntervals = ['minute', 'hour', 'day', 'week'] as const

export const statsQuerySchema = sessionFilterSchema.extend({
  interval: z.enum(statsIntervals).optional().describe('one bucket for each; without it no buckets'),
  groupBy: z.enum(statsGroups).optional(),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000)
    .default(50)
    .describe('groups, those of most sessions first'),
})

export type StatsQuery = z.infer<typeof statsQuerySchema>

type Percentiles = { p50: number | null; p95: number | null; p99: number | null }
type Figures = {
  total: number
  success: number
  fail: number
  indeterminate: number
  running: number
  lost: number
  failureRate: number | null
  cost: number | null
  usage: Usage
  durationMs: Percentiles
}
type StatsBucket = Figures & { at: string }
/** For models and tools, `calls`, `cost`, `usage` and `durationMs` are those of the calls, not of their sessions. */
type StatsGroup = Figures & {
  key: string
  calls?: number
  failedCalls?: number
  example?: { sessionId: string; message: string }
}
export type Stats = Figures & { buckets: StatsBucket[]; groups: StatsGroup[] }

const totalsSql = loadSql('./stats-totals.sql')
const groupsSql = loadSql('./stats-groups.sql')

/** Counts, rates, cost and durations of the sessions that a filter finds: in all, over time, and by group. */
export async function readStats(
  client: ClickHouseClient,
  project: string,
  query: StatsQuery,
): Promise<Stats> {
  const conditions = sessionConditions(project, query)
  const [totals, buckets, groups] = await Promise.all([
    readFigures(client, conditions, "''", 'key'),
    query.interval === undefined ? [] : readFigures(client, conditions, bucketOf[query.interval], 'key'),
    query.groupBy === undefined ? [] : readGroups(client, conditions, query.groupBy, query.limit),
  ])
  return {
    ...(totals[0] === undefined ? emptyFigures : figures(totals[0])),
    buckets: buckets.map((row) => ({ at: row.key, ...figures(row) })),
    groups,
  }
}

const iso = (expression: string) => `formatDateTime(${expression}, '%Y-%m-%dT%H:%i:%SZ', 'UTC')`
const bucketOf: Record<(typeof statsIntervals)[number], string> = {
  minute: iso("toStartOfMinute(started_at, 'UTC')"),
  hour: iso("toStartOfHour(started_at, 'UTC')"),
  day: iso("toStartOfDay(started_at, 'UTC')"),
  week: iso("toDateTime(toMonday(started_at, 'UTC'), 'UTC')"),
}

type FiguresRow = {
  key: string
  total: number
  success: number
  fail: number
  indeterminate: number
  running: number
  lost: number
  cost: number | null
  usage: Usage
  durations: [number | null, number | null, number | null]
}

async function readFigures(
  client: ClickHouseClient,
  conditions: Conditions,
  key: string,
  order: string,
): Promise<FiguresRow[]> {
  const result = await client.query({
    query: totalsSql({ key, state: STATE, duration: DURATION_MS, conditions: conditions.sql, order }),
    query_params: conditions.params,
    format: 'JSONEachRow',
  })
  return result.json<FiguresRow>()
}

/** What a session is grouped under, each as (key, cost, input, output, duration, failed, example) of one call or of the session. */
const groupItems: Record<(typeof statsGroups)[number], string> = {
  model:
    'arrayZip(call_models, call_costs, call_inputs, call_outputs, call_durations, call_failed, call_models)',
  tool: "arrayMap((name, ms, failed) -> (name, CAST(NULL, 'Nullable(Float64)'), CAST(NULL, 'Nullable(UInt64)'), CAST(NULL, 'Nullable(UInt64)'), ms, failed, ''), action_names, action_durations, action_failed)",
  agent: perSession('arrayDistinct(agents)'),
  tag: perSession('arrayDistinct(tags)'),
  test: perSession(
    "if(test_name = '', [], [if(test_suite = '', test_name, concat(test_suite, ' > ', test_name))])",
  ),
  branch: perSession("if(branch = '', [], [branch])"),
  environment: perSession("if(environment = '', [], [environment])"),
  user: perSession("if(user_id = '', [], [user_id])"),
  error: `arrayMap((print, type, message) -> (print, cost, ${tokens('input')}, ${tokens('output')}, ${floatDuration()}, toUInt8(1), concat(type, ': ', message)), error_prints, error_types, error_messages)`,
}

function perSession(keys: string): string {
  return `arrayMap(key -> (key, cost, ${tokens('input')}, ${tokens('output')}, ${floatDuration()}, toUInt8(0), ''), ${keys})`
}

function tokens(field: string): string {
  return `if(mapContains(usage, '${field}'), usage['${field}'], NULL)`
}

function floatDuration(): string {
  return `CAST(${DURATION_MS}, 'Nullable(Float32)')`
}

type GroupRow = FiguresRow & { calls: number; failed_calls: number; example: string; last_session: string }

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
      example: { sessionId: row.last_session, message: row.example },
    }),
  }))
}

function figures(row: FiguresRow): Figures {
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

const emptyFigures: Figures = {
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
