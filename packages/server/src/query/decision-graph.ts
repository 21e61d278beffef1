import type { Store } from '../store/connect.ts'
import type { DecisionGraph, SessionSummary } from '@playhead/model'
import { z } from 'zod'
import { buildGraph, type StepFigures, type VariantRow } from './build-graph.ts'
import type { SessionIndex } from '../sessions/find-session.ts'
import { loadSql } from '../store/load-sql.ts'
import { sessionConditions, sessionFilterSchema, type Conditions } from './session-filter.ts'
import { findByText } from './text-search.ts'
import { CURRENT_FIRST } from '../store/steps-table.ts'
import { STATE, summariesFromRows, summarySelect, type SummaryRow } from '../store/sessions-table.ts'

const pathsSql = loadSql(new URL('./decision-paths.sql', import.meta.url))
const shownStepsSql = loadSql(new URL('./decision-shown-steps.sql', import.meta.url))
const pathsOfCallsSql = loadSql(new URL('./decision-paths-of-calls.sql', import.meta.url))
const variantsSql = loadSql(new URL('./decision-variants.sql', import.meta.url))
const stepsSql = loadSql(new URL('./decision-steps.sql', import.meta.url))
const sessionsSql = loadSql(new URL('./decision-sessions.sql', import.meta.url))

/** Longer paths are truncated: nobody reads them to the end. */
const MAX_PATH_STEPS = 400
const MAX_NODES = 2000
const MAX_PATHS = 100_000

/** Which steps the graph shows, as fixed SQL. */
const stepSets = {
  actions: "kind IN ('action', 'retrieval', 'handoff', 'guardrail')",
  steps: "kind IN ('action', 'retrieval', 'handoff', 'guardrail', 'llm', 'agent')",
  effects: "kind = 'action' AND effect = 'write'",
} as const

export const graphQuerySchema = sessionFilterSchema.extend({
  of: z
    .enum(['actions', 'steps', 'effects'])
    .default('actions')
    .describe(
      'actions: tools, retrievals, handoffs and guardrails; steps: also model calls and agents; effects: only actions that write',
    ),
  sessions: z.coerce
    .number()
    .int()
    .min(1)
    .max(100_000)
    .default(10_000)
    .describe('how many sessions to include, newest first'),
  variants: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000)
    .default(200)
    .describe('how many variants to return, most common first'),
})

export type GraphQuery = z.infer<typeof graphQuerySchema>

export const graphSessionsQuerySchema = graphQuerySchema.extend({
  node: z.string().max(1000).optional().describe('only sessions with this step'),
  edge: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .describe(
      'two steps: only sessions in which the second follows the first directly; "start" and "end …" count as steps',
    ),
  limit: z.coerce.number().int().min(1).max(500).default(50),
})

type GraphSessionsQuery = z.infer<typeof graphSessionsQuerySchema>

/** Aggregates sessions into one graph: which step follows which, how often, and how sessions end. The store does the counting. */
export async function readDecisionGraph(
  { client, joined, words }: SessionIndex & Pick<Store, 'words'>,
  project: string,
  query: GraphQuery,
): Promise<DecisionGraph> {
  const found = await findByText({ client, words }, project, query.text)
  const { values, params } = statementParts({ words }, project, query, { found, hasJoined: joined.isAny })
  const read = async <Row>(sql: string) => {
    const result = await client.query({ query: sql, query_params: params, format: 'JSONEachRow' })
    return result.json<Row>()
  }
  const [variants, steps] = await Promise.all([
    read<VariantRow>(variantsSql(values)),
    read<StepFigures>(stepsSql(values)),
  ])
  return buildGraph(variants, steps, query)
}

/** Lists the sessions behind a node or an edge, newest first. */
export async function readGraphSessions(
  { client, badRows, joined, words }: SessionIndex & Pick<Store, 'badRows' | 'words'>,
  project: string,
  query: GraphSessionsQuery,
): Promise<SessionSummary[]> {
  const found = await findByText({ client, words }, project, query.text)
  const { values, params } = statementParts({ words }, project, query, { found, hasJoined: joined.isAny })
  const path = pathCondition(query)
  const result = await client.query({
    query: sessionsSql({ ...values, summary: summarySelect, path_condition: path.sql }),
    query_params: { ...params, ...path.params, limit: query.limit },
    format: 'JSONEachRow',
  })
  return summariesFromRows(badRows, await result.json<SummaryRow>())
}

function statementParts(
  store: Pick<Store, 'words'>,
  project: string,
  query: GraphQuery,
  { found, hasJoined }: { found: string[] | undefined; hasJoined: boolean },
): { values: Record<string, string>; params: Record<string, unknown> } {
  const conditions = sessionConditions(store, project, query, found)
  const chosen = `SELECT session_id, ${STATE} AS state, started_at, cost, changed_steps FROM sessions FINAL WHERE ${conditions.sql}
    ORDER BY started_at DESC, session_id DESC LIMIT {sessions:UInt32}`
  const pathsOf = (traces: string) =>
    pathsSql({ traces, steps: stepSets[query.of], current_first: CURRENT_FIRST })
  const own = pathsOf(`SELECT session_id FROM (${chosen})`)
  const stored = hasJoined ? `(${own}) UNION ALL (${joinedPaths(chosen, pathsOf)})` : own
  const paths = shownStepsSql({ stored, chosen, steps: stepSets[query.of] })
  return {
    values: { chosen, paths: query.of === 'steps' ? pathsOfCallsSql({ paths }) : paths },
    params: {
      ...conditions.params,
      sessions: query.sessions,
      longest: MAX_PATH_STEPS,
      steps: MAX_NODES,
      variants: MAX_PATHS,
    },
  }
}

/** The steps of traces that belong to chosen sessions, but whose id is not the session's. */
function joinedPaths(chosen: string, pathsOf: (traces: string) => string): string {
  const joined = `SELECT trace_id, session_id FROM joined_traces FINAL
    WHERE project = {project:String} AND trace_id != session_id AND session_id IN (SELECT session_id FROM (${chosen}))`
  return `SELECT path.* REPLACE (joined.session_id AS session_id)
    FROM (${pathsOf(`SELECT trace_id FROM (${joined})`)}) AS path
    INNER JOIN (${joined}) AS joined ON path.session_id = joined.trace_id`
}

/** Fixed SQL; the node and the edge are parameters. */
function pathCondition({ node, edge }: GraphSessionsQuery): Conditions {
  const [from, to] = typeof edge === 'object' ? edge : []
  if (from !== undefined && to !== undefined) return edgeCondition(from, to)
  if (node === undefined || node === 'start') return { sql: '1', params: {} }
  if (node.startsWith('end '))
    return { sql: 'state = {path_state:String}', params: { path_state: node.slice(4) } }
  return { sql: 'has(path, {path_node:String})', params: { path_node: node } }
}

function edgeCondition(from: string, to: string): Conditions {
  const state = to.startsWith('end ') ? to.slice(4) : undefined
  const params = { path_from: from, path_to: to, path_state: state ?? '' }
  if (from === 'start')
    return state === undefined
      ? { sql: 'path[1] = {path_to:String}', params }
      : { sql: 'empty(path) AND state = {path_state:String}', params }
  return state === undefined
    ? { sql: 'hasSubstr(path, [{path_from:String}, {path_to:String}])', params }
    : { sql: 'path[-1] = {path_from:String} AND state = {path_state:String}', params }
}
