import {
  countOf,
  fisherExact,
  formatCost,
  formatCount,
  formatDuration,
  oneLine,
  wilson,
  type Stats,
  type StatsFigures,
  type StatsGroup,
} from '@playhead/model'
import { z } from 'zod'
import { writeAnswer } from './answer.ts'
import { defineTool, linkTo, parseWhere, type ToolApi } from './tool.ts'
import { describeTables } from '../sql/query-tables.ts'
import type { QueryResult } from '../sql/run-query.ts'

const groupings = ['model', 'tool', 'agent', 'tag', 'test', 'error', 'branch', 'environment', 'user'] as const
const intervals = ['hour', 'day', 'week'] as const
const MAX_GROUPS = 40

export const getStats = defineTool({
  name: 'get_stats',
  description:
    'Counts, failure rate, cost, tokens and durations of sessions: in total, by group or over time; with versus, whether two sets differ.',
  input: z.object({
    where: z.string().max(2_000).optional().describe('Filter, as in find_sessions'),
    by: z
      .enum([...groupings, ...intervals])
      .optional()
      .describe('tool and model count calls and their failures'),
    versus: z.string().max(2_000).optional().describe('Filter of the sessions to compare with: branch:main'),
  }),
  async run({ where, by, versus }, api) {
    const stats = await readStats(where, by, api)
    const other = versus === undefined ? undefined : await readStats(versus, undefined, api)
    const isOverTime = (intervals as readonly (string | undefined)[]).includes(by)
    const rows = isOverTime
      ? stats.buckets.map((bucket) => `${bucket.at.slice(0, 16)}  ${describeFigures(bucket)}`)
      : sortGroups(stats.groups, by).map((group) => describeGroup(group, by))
    return writeAnswer({
      head: [
        `${nameOf(where)}: ${describeFigures(stats)}.`,
        ...(stats.unpricedModels.length === 0
          ? []
          : [`The cost leaves out ${countOf(stats.unpricedModels.length, 'model')} without a known price.`]),
        ...(other === undefined ? [] : describeDifference(stats, other, { where, versus })),
        ...(by === undefined ? [] : [`By ${by}:`]),
      ].join('\n'),
      blocks: [...rows, ...(by === 'tool' ? await describeToolErrors(where, stats.groups, api) : [])],
      omitted: (_, count) => `${count} omitted; ask with a narrower filter.`,
      foot: [linkTo(api, '/', {}), linkTo(api, '/sessions', { q: where })].slice(by === undefined ? 1 : 0, 2),
    })
  },
})

function readStats(where: string | undefined, by: string | undefined, api: ToolApi): Promise<Stats> {
  const isOverTime = (intervals as readonly (string | undefined)[]).includes(by)
  return api.get<Stats>('/api/stats', {
    ...parseWhere(where),
    ...(isOverTime ? { interval: by } : { groupBy: by, limit: String(MAX_GROUPS) }),
  })
}

function nameOf(where: string | undefined): string {
  return where === undefined || where.trim() === '' ? 'All sessions' : oneLine(where, 200)
}

function describeFigures(figures: StatsFigures): string {
  const { total, fail, lost, running, indeterminate, cost, durationMs, usage } = figures
  const states = Object.entries({ indeterminate, running, lost })
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${count} ${state}`)
  const { input, output } = usage
  return [
    countOf(total, 'session'),
    `${fail} failed${rateOf(figures)}`,
    ...states,
    cost === null ? 'cost unknown' : formatCost(cost),
    ...(input === undefined && output === undefined
      ? []
      : [`${formatCount(input ?? 0)} tokens in, ${formatCount(output ?? 0)} out`]),
    ...(durationMs.p50 === null
      ? []
      : [`p50 ${formatDuration(durationMs.p50)}, p95 ${formatDuration(durationMs.p95!)}`]),
  ].join(', ')
}

function rateOf({ failureRate, fail, success }: StatsFigures): string {
  if (failureRate === null) return ''
  const { low, high } = wilson(fail, fail + success)
  return ` (${percent(failureRate)}, 95% interval ${percent(low)}–${percent(high)})`
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)}%`
}

/** Tools by how often they failed, all others as the API sorts them. */
function sortGroups(groups: readonly StatsGroup[], by: string | undefined): StatsGroup[] {
  if (by !== 'tool') return [...groups]
  return groups.toSorted(
    (a, b) => (b.failedCalls ?? 0) - (a.failedCalls ?? 0) || (b.calls ?? 0) - (a.calls ?? 0),
  )
}

function describeGroup(group: StatsGroup, by: string | undefined): string {
  const { calls, failedCalls = 0, example, cost, usage, durationMs } = group
  const key = oneLine(example?.message ?? group.key, 160)
  const action = example?.action === undefined ? '' : ` in ${oneLine(example.action, 60)}`
  if (by === 'error')
    return `${countOf(group.total, 'session')}  ${key}${action}  last s_${example?.sessionId.slice(0, 8) ?? '?'}`
  if (calls === undefined) return `${key}: ${describeFigures(group)}`
  return [
    `${key}: ${countOf(calls, 'call')}, ${failedCalls} failed (${percent(failedCalls / Math.max(1, calls))}) in ${countOf(group.total, 'session')}`,
    ...(by === 'tool' ? [] : [cost === null ? 'cost unknown' : formatCost(cost)]),
    ...(usage.input === undefined
      ? []
      : [`${formatCount(usage.input)} tokens in, ${formatCount(usage.output ?? 0)} out`]),
    ...(durationMs.p50 === null ? [] : [`p50 ${formatDuration(durationMs.p50)}`]),
  ].join(', ')
}

/** How the tool that fails most fails. */
async function describeToolErrors(
  where: string | undefined,
  groups: readonly StatsGroup[],
  api: ToolApi,
): Promise<string[]> {
  const [worst] = sortGroups(groups, 'tool')
  if (worst === undefined || (worst.failedCalls ?? 0) === 0) return []
  const query = { ...parseWhere(where), failedTool: worst.key, groupBy: 'error', limit: '5' }
  const errors = await api.get<Stats>('/api/stats', query)
  return [
    `Errors of sessions where ${oneLine(worst.key, 60)} failed:`,
    ...errors.groups.map((group) => `  ${describeGroup(group, 'error')}`),
  ]
}

function describeDifference(
  stats: Stats,
  other: Stats,
  { where, versus }: { where: string | undefined; versus: string | undefined },
): string[] {
  const line = `${nameOf(versus)}: ${describeFigures(other)}.`
  if (stats.failureRate === null || other.failureRate === null)
    return [line, 'Too few sessions have ended to compare them.']
  const isWorse = stats.failureRate >= other.failureRate
  const [better, worse] = isWorse ? [other, stats] : [stats, other]
  const p = fisherExact(passesOf(better), passesOf(worse))
  const verdict =
    stats.failureRate === other.failureRate
      ? 'The failure rates are the same'
      : `${nameOf(where)} fails ${isWorse ? 'more' : 'less'} often: ${percent(stats.failureRate)} against ${percent(other.failureRate)}`
  const chance = p < 0.05 ? 'hardly chance' : 'may be chance'
  return [
    line,
    `${verdict}; ${chance} (Fisher's exact test, p = ${p < 0.001 ? p.toExponential(1) : p.toFixed(3)}).`,
  ]
}

function passesOf({ success, fail }: StatsFigures) {
  return { passed: success, total: success + fail }
}

const MAX_CELL_LENGTH = 300

export const querySql = defineTool({
  name: 'query_sql',
  description: `Runs one read-only SELECT (ClickHouse SQL, 10 seconds, 1,000 rows) for questions that no other tool answers. Tables:
${describeTables()}
state is success, fail, indeterminate, running or lost. attributes is JSON: JSONExtractString(attributes, 'gen_ai.tool.call.arguments').`,
  input: z.object({
    sql: z.string().max(20_000),
    limit: z.number().int().min(1).max(1_000).default(50),
  }),
  async run({ sql, limit }, api) {
    const { columns, rows, isTruncated } = await api.post<QueryResult>('/api/query', { sql, limit })
    return writeAnswer({
      head: `${countOf(rows.length, 'row')}${isTruncated ? ', and there are more; ask with a higher limit or LIMIT … OFFSET' : ''}. Columns are separated by tabs.`,
      blocks: [columns.map(({ name }) => oneLine(name, 60)).join('\t'), ...rows.map(describeRow)],
      omitted: (first, count) =>
        `${countOf(count, 'row')} omitted; ask with LIMIT ${limit} OFFSET ${first - 1}, or select less.`,
    })
  },
})

function describeRow(row: readonly unknown[]): string {
  return row.map(describeCell).join('\t')
}

function describeCell(value: unknown): string {
  if (value === null) return 'NULL'
  return oneLine(typeof value === 'string' ? value : JSON.stringify(value), MAX_CELL_LENGTH)
}
