import type { ClickHouseClient } from '@clickhouse/client'
import type { DecisionGraph, SessionSummary } from '@playhead/model'
import { z } from 'zod'
import { buildGraph, type StepFigures, type VariantRow } from './build-graph.ts'
import { loadSql } from '../store/load-sql.ts'
import { sessionConditions, sessionFilterSchema, type Conditions } from './session-filter.ts'
import { STATE, summaryFromRow, summarySelect, type SummaryRow } from '../store/sessions-table.ts'

const pathsSql = loadSql(new URL('./decision-paths.sql', import.meta.url))
const pathsOfCallsSql = loadSql(new URL('./decision-paths-of-calls.sql', import.meta.url))
const variantsSql = loadSql(new URL('./decision-variants.sql', import.meta.url))
const stepsSql = loadSql(new URL('./decision-steps.sql', import.meta.url))
const sessionsSql = loadSql(new URL('./decision-sessions.sql', import.meta.url))

/** Ways longer than this are cut: nobody reads them to their end. */
const LONGEST_WAY = 400
const MOST_STEPS = 2000

/** Which steps are in the graph; fixed text. */
const stepSets = {
  actions: "kind IN ('action', 'retrieval', 'handoff', 'guardrail')",
  steps: "kind IN ('action', 'retrieval', 'handoff', 'guardrail', 'llm', 'agent')",
  effects: "kind = 'action' AND effect = 'write'",
} as const

export const graphQuerySchema = sessionFilterSchema.extend({
  of: z
    .enum(['actions', 'steps', 'effects'])
    .default('actions')
    .describe('actions; steps: model calls and agents too; effects: only what writes'),
  sessions: z.coerce
    .number()
    .int()
    .min(1)
    .max(100_000)
    .default(10_000)
    .describe('how many sessions are looked at, the newest'),
  variants: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000)
    .default(200)
    .describe('ways to answer with, most common first'),
})

export type GraphQuery = z.infer<typeof graphQuerySchema>

export const graphSessionsQuerySchema = graphQuerySchema.extend({
  node: z.string().max(1000).optional().describe('sessions that took this step'),
  edge: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .describe(
      'two steps: sessions in which the second came right after the first; "start" and "end" are steps too',
    ),
  limit: z.coerce.number().int().min(1).max(500).default(50),
})

/** Many sessions as one graph: which step follows which, how often, and how it ends. Counted in the store. */
export async function readDecisionGraph(
  client: ClickHouseClient,
  project: string,
  query: GraphQuery,
): Promise<DecisionGraph> {
  const { marks, params } = parts(project, query)
  const read = async <Row>(sql: string) => {
    const result = await client.query({ query: sql, query_params: params, format: 'JSONEachRow' })
    return result.json<Row>()
  }
  const [variants, steps] = await Promise.all([
    read<VariantRow>(variantsSql(marks)),
    read<StepFigures>(stepsSql(marks)),
  ])
  return buildGraph(variants, steps, query)
}

/** The sessions behind a node or an edge, newest first. */
export async function readGraphSessions(
  client: ClickHouseClient,
  project: string,
  query: z.infer<typeof graphSessionsQuerySchema>,
): Promise<SessionSummary[]> {
  const { marks, params } = parts(project, query)
  const way = wayCondition(query)
  const result = await client.query({
    query: sessionsSql({ ...marks, summary: summarySelect, way: way.sql }),
    query_params: { ...params, ...way.params, limit: query.limit },
    format: 'JSONEachRow',
  })
  return (await result.json<SummaryRow>()).map(summaryFromRow)
}

function parts(
  project: string,
  query: GraphQuery,
): { marks: Record<string, string>; params: Record<string, unknown> } {
  const conditions = sessionConditions(project, query)
  const chosen = `SELECT session_id, ${STATE} AS state, started_at, cost FROM sessions FINAL WHERE ${conditions.sql}
    ORDER BY started_at DESC, session_id DESC LIMIT {sessions:UInt32}`
  const paths = pathsSql({ chosen, steps: stepSets[query.of] })
  return {
    marks: { chosen, paths: query.of === 'steps' ? pathsOfCallsSql({ paths }) : paths },
    params: {
      ...conditions.params,
      sessions: query.sessions,
      longest: LONGEST_WAY,
      steps: MOST_STEPS,
      variants: 100_000,
    },
  }
}

/** Fixed text; which node and which edge are parameters. */
function wayCondition({
  node,
  edge,
}: {
  node?: string | undefined
  edge?: string | string[] | undefined
}): Conditions {
  const [from, to] = typeof edge === 'object' ? edge : []
  if (from !== undefined && to !== undefined) return edgeCondition(from, to)
  if (node === undefined || node === 'start') return { sql: '1', params: {} }
  if (node.startsWith('end '))
    return { sql: 'state = {way_state:String}', params: { way_state: node.slice(4) } }
  return { sql: 'has(path, {way_node:String})', params: { way_node: node } }
}

function edgeCondition(from: string, to: string): Conditions {
  const state = to.startsWith('end ') ? to.slice(4) : undefined
  const params = { way_from: from, way_to: to, way_state: state ?? '' }
  if (from === 'start')
    return state === undefined
      ? { sql: 'path[1] = {way_to:String}', params }
      : { sql: 'empty(path) AND state = {way_state:String}', params }
  return state === undefined
    ? { sql: 'hasSubstr(path, [{way_from:String}, {way_to:String}])', params }
    : { sql: 'path[-1] = {way_from:String} AND state = {way_state:String}', params }
}
