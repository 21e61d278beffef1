import {
  asksForReruns,
  describeFilterField,
  durationRange,
  endStates,
  findingKinds,
  lanes,
  numberRange,
  parseScoreFilter,
  parseSessionIdPrefix,
  parseTime,
  type FindingKind,
  type ScoreFilter,
  type SessionFilterField,
} from '@playhead/model'
import { z } from 'zod'
import { DURATION_MS, hourBucket, STATE } from '../store/sessions-table.ts'
import type { Store } from '../store/connect.ts'
import type { WordMarks } from '../store/word-marks.ts'
import { newerThan, textConditions } from './text-search.ts'
import type { ClickHouseClient } from '@clickhouse/client'

const kinds = Object.keys(findingKinds) as [FindingKind, ...FindingKind[]]

const one = (field: SessionFilterField) => z.string().optional().describe(describeFilterField(field))

const many = (field: SessionFilterField) =>
  z
    .union([z.string(), z.array(z.string())])
    .transform((value) => (Array.isArray(value) ? value : [value]))
    .optional()
    .describe(describeFilterField(field))

/** The filter that `GET /api/sessions`, `/api/stats`, `/api/tests` and `/api/graph` take. */
export const sessionFilterSchema = z.object({
  status: z
    .union([z.enum(endStates), z.array(z.enum(endStates))])
    .transform((value) => (Array.isArray(value) ? value : [value]))
    .optional()
    .describe(describeFilterField('status')),
  tag: many('tag'),
  model: many('model'),
  tool: many('tool'),
  agent: many('agent'),
  error: many('error'),
  finding: z
    .union([z.enum(kinds), z.array(z.enum(kinds))])
    .transform((value) => (Array.isArray(value) ? value : [value]))
    .optional()
    .describe(describeFilterField('finding')),
  issue: one('issue'),
  score: many('score').transform(scoresOr),
  failedTool: many('failedTool'),
  name: one('name'),
  user: one('user'),
  thread: one('thread'),
  environment: one('environment'),
  version: one('version'),
  branch: one('branch'),
  test: one('test'),
  testFile: one('testFile'),
  runId: one('runId'),
  variant: one('variant'),
  parent: one('parent').transform(rangeOr(parseSessionIdPrefix)),
  lane: z
    .union([z.enum(lanes), z.array(z.enum(lanes))])
    .transform((value) => (Array.isArray(value) ? value : [value]))
    .optional()
    .describe(describeFilterField('lane')),
  reruns: z.enum(['include', 'exclude']).optional().describe(describeFilterField('reruns')),
  demo: z.enum(['true', 'false']).optional().describe(describeFilterField('demo')),
  cost: one('cost').transform(rangeOr(numberRange)),
  duration: one('duration').transform(rangeOr(durationRange)),
  from: one('from').transform(timeOr),
  to: one('to').transform(timeOr),
  text: z.string().max(400).optional().describe(describeFilterField('text')),
} satisfies Record<SessionFilterField, z.ZodType>)

export type SessionFilter = z.infer<typeof sessionFilterSchema>

/** Fields that match a column exactly. */
const equalColumns = [
  ['user', 'user_id'],
  ['thread', 'thread_id'],
  ['environment', 'environment'],
  ['version', 'service_version'],
  ['branch', 'branch'],
  ['testFile', 'test_file'],
  ['runId', 'test_run_id'],
  ['variant', 'test_variant'],
] as const satisfies readonly (readonly [keyof SessionFilter, string])[]

export type Conditions = { sql: string; params: Record<string, unknown> }

/**
 * Turns a filter into SQL over `sessions`: fixed text, with the values as parameters. Leaves re-runs out by default. `found` has
 * the sessions with the filter's text if they are known.
 */
export function sessionConditions(
  { words }: Pick<Store, 'words'>,
  project: string,
  filter: Partial<SessionFilter>,
  found?: readonly string[],
): Conditions {
  const parts = ['project = {project:String}']
  const params: Record<string, unknown> = { project, nowMs: Date.now() }
  const add = (sql: string, values: Record<string, unknown>) => {
    parts.push(sql)
    Object.assign(params, values)
  }
  if (filter.status) add(`has({status:Array(String)}, ${STATE})`, { status: filter.status })
  if (filter.tag) add('hasAll(tags, {tag:Array(String)})', { tag: filter.tag })
  if (filter.model) add('hasAny(models, {model:Array(String)})', { model: filter.model })
  if (filter.tool) add('hasAll(tools, {tool:Array(String)})', { tool: filter.tool })
  if (filter.agent) add('hasAll(agents, {agent:Array(String)})', { agent: filter.agent })
  if (filter.error) {
    add('(hasAny(error_types, {error:Array(String)}) OR hasAny(error_prints, {error:Array(String)}))', {
      error: filter.error,
    })
  }
  if (filter.finding)
    add(`session_id IN (${findingsSubquery('hasAny(suspect_kinds, {finding:Array(String)})')})`, {
      finding: filter.finding,
    })
  if (filter.issue)
    add(`session_id IN (${findingsSubquery('issue_id = {issue:String}')})`, { issue: filter.issue })
  for (const [index, score] of (filter.score ?? []).entries()) addScore(add, score, `score${index}`)
  if (filter.failedTool) {
    add(
      'hasAll(arrayFilter((name, failed) -> failed = 1, action_names, action_failed), {failedTool:Array(String)})',
      { failedTool: filter.failedTool },
    )
  }
  if (filter.name) {
    add(
      '(positionCaseInsensitiveUTF8(name, {name:String}) > 0 OR positionCaseInsensitiveUTF8(input_preview, {name:String}) > 0)',
      { name: filter.name },
    )
  }
  if (filter.test) {
    add("(test_name = {test:String} OR concat(test_suite, ' > ', test_name) = {test:String})", {
      test: filter.test,
    })
  }
  for (const [field, column] of equalColumns)
    if (filter[field]) add(`${column} = {${field}:String}`, { [field]: filter[field] })
  if (filter.parent) add('startsWith(parent_id, {parent:String})', { parent: filter.parent })
  if (filter.lane) add('has({lane:Array(String)}, lane)', { lane: filter.lane })
  if (!asksForReruns(filter)) add("parent_id = ''", {})
  if (filter.demo) add(`demo = ${filter.demo === 'true' ? 1 : 0}`, {})
  addRange(add, 'cost', filter.cost, 'cost')
  addRange(add, DURATION_MS, filter.duration, 'duration')
  addTimes(add, filter)
  if (found !== undefined) add('session_id IN {found:Array(String)}', { found })
  else if (filter.text) addText(add, words, filter.text, filter.from)
  return { sql: parts.join(' AND '), params }
}

function findingsSubquery(condition: string): string {
  return `SELECT session_id FROM session_findings FINAL WHERE project = {project:String} AND ${condition}`
}

type Add = (sql: string, values: Record<string, unknown>) => void

function addText(add: Add, words: WordMarks, text: string, fromMs: number | undefined): void {
  const { sql, params } = textConditions(words, text)
  add(`session_id IN (${sql})`, { ...params, ...(fromMs !== undefined && newerThan(fromMs)) })
}

function addRange(add: Add, column: string, range: SessionFilter['cost'], name: string): void {
  if (range === undefined) return
  if (range.min !== undefined) {
    add(`${column} ${range.isMinOpen ? '>' : '>='} {${name}Min:Float64}`, { [`${name}Min`]: range.min })
  }
  if (range.max !== undefined) {
    add(`${column} ${range.isMaxOpen ? '<' : '<='} {${name}Max:Float64}`, { [`${name}Max`]: range.max })
  }
}

/** Both are 0 without a score of this name. */
const scoreAt = (parameter: string) => `indexOf(score_names, {${parameter}:String})`

/** SQL for the number of a session's score; NULL without one. */
export function scoreNumberOf(parameter: string): string {
  return `if(${scoreAt(parameter)} = 0, NULL, score_numbers[${scoreAt(parameter)}])`
}

/** SQL for the word of a session's score; empty without one. */
export function scoreWordOf(parameter: string): string {
  return `score_words[${scoreAt(parameter)}]`
}

function addScore(add: Add, { name, range, word, isAbsent }: ScoreFilter, parameter: string): void {
  add(`${isAbsent === true ? 'NOT ' : ''}has(score_names, {${parameter}:String})`, { [parameter]: name })
  if (word !== undefined)
    add(`lower(${scoreWordOf(parameter)}) = lower({${parameter}Word:String})`, { [`${parameter}Word`]: word })
  // Not NULL for a session without the number: the engine would read the column of every session.
  addRange(add, `ifNull(${scoreNumberOf(parameter)}, nan)`, range, parameter)
}

/** Filters by time, and by the hour bucket that the table is sorted by. */
function addTimes(add: Add, filter: Partial<SessionFilter>): void {
  if (filter.from !== undefined) {
    add('bucket <= {fromBucket:UInt32} AND started_at >= fromUnixTimestamp64Milli({fromMs:Int64})', {
      fromBucket: hourBucket(filter.from),
      fromMs: filter.from,
    })
  }
  if (filter.to !== undefined) {
    add('bucket >= {toBucket:UInt32} AND started_at < fromUnixTimestamp64Milli({toMs:Int64})', {
      toBucket: hourBucket(filter.to),
      toMs: filter.to,
    })
  }
}

function rangeOr<Range>(parse: (text: string) => Range | undefined) {
  return (text: string | undefined, context: z.core.$RefinementCtx): Range | undefined => {
    if (text === undefined) return undefined
    const range = parse(text)
    if (range === undefined) context.addIssue({ code: 'custom', message: `can't be parsed: "${text}"` })
    return range
  }
}

function scoresOr(texts: string[] | undefined, context: z.core.$RefinementCtx): ScoreFilter[] | undefined {
  return texts?.flatMap((text) => rangeOr(parseScoreFilter)(text, context) ?? [])
}

/** The store can't compare times outside the range of 64-bit nanoseconds. */
const FIRST_TIME_MS = 0
const LAST_TIME_MS = Date.UTC(2262, 0)

function timeOr(text: string | undefined, context: z.core.$RefinementCtx): number | undefined {
  const timeMs = rangeOr((value) => parseTime(value, Date.now()))(text, context)
  return timeMs === undefined ? undefined : Math.min(Math.max(timeMs, FIRST_TIME_MS), LAST_TIME_MS)
}

/** The fields with suggestions, as SQL that lists their values in a session. */
const valueLists = {
  tag: 'tags',
  model: 'models',
  tool: 'tools',
  agent: 'agents',
  error: 'error_types',
  user: '[user_id]',
  thread: '[thread_id]',
  environment: '[toString(environment)]',
  version: '[toString(service_version)]',
  branch: '[toString(branch)]',
  test: '[toString(test_name)]',
  name: '[name]',
  score: 'score_names',
} as const satisfies Record<string, string>

type FilterField = keyof typeof valueLists
export const filterFields = Object.keys(valueLists) as [FilterField, ...FilterField[]]

/** Suggestions come from the newest sessions only, which avoids a full scan. */
const SUGGESTION_SESSIONS = 100_000

/** Lists the values of a field that contain a text, most frequent first. */
export async function readFilterValues(
  client: ClickHouseClient,
  project: string,
  query: { field: FilterField; contains: string; limit: number },
): Promise<{ value: string; sessions: number }[]> {
  const result = await client.query({
    query: `SELECT arrayJoin(arrayDistinct(list)) AS value, count() AS sessions
      FROM (SELECT ${valueLists[query.field]} AS list, is_deleted FROM sessions WHERE project = {project:String}
        ORDER BY bucket, session_id, version DESC LIMIT 1 BY bucket, session_id LIMIT ${SUGGESTION_SESSIONS})
      WHERE is_deleted = 0 AND value != '' AND positionCaseInsensitiveUTF8(value, {contains:String}) > 0
      GROUP BY value ORDER BY sessions DESC, value LIMIT {limit:UInt32}`,
    query_params: { project, contains: query.contains, limit: query.limit },
    format: 'JSONEachRow',
  })
  return result.json<{ value: string; sessions: number }>()
}
