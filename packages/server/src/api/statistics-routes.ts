import type { ClickHouseClient } from '@clickhouse/client'
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import type { Gate } from '../access/caller.ts'
import { projectOf } from '../access/request-project.ts'
import {
  graphQuerySchema,
  graphSessionsQuerySchema,
  readDecisionGraph,
  readGraphSessions,
} from '../query/decision-graph.ts'
import { listTests, testsQuerySchema } from '../query/list-tests.ts'
import { readStats, statsQuerySchema } from '../query/stats.ts'
import { projectParameter, respondsWith } from './route-parts.ts'

const statsRoute = createRoute({
  method: 'get',
  path: '/api/stats',
  summary: 'Counts, failure rate, cost, tokens and durations: in total, over time and by group',
  request: { query: statsQuerySchema.extend(projectParameter) },
  responses: respondsWith('GET /api/stats', 'The statistics'),
})

const testsRoute = createRoute({
  method: 'get',
  path: '/api/tests',
  summary: 'The tests that sessions were recorded in: how often each passed, and its recent runs',
  request: { query: testsQuerySchema.extend(projectParameter) },
  responses: respondsWith('GET /api/tests', 'The tests, most recently run first'),
})

const graphRoute = createRoute({
  method: 'get',
  path: '/api/graph',
  summary: 'The sessions that match a filter as one decision graph: nodes, edges and the most common paths',
  request: { query: graphQuerySchema.extend(projectParameter) },
  responses: respondsWith('GET /api/graph', 'The graph'),
})

const graphSessionsRoute = createRoute({
  method: 'get',
  path: '/api/graph/sessions',
  summary: 'The sessions that pass through a node or an edge of the graph, newest first',
  request: { query: graphSessionsQuerySchema.extend(projectParameter) },
  responses: respondsWith('GET /api/graph/sessions', 'The sessions'),
})

export function addStatisticsRoutes(
  app: OpenAPIHono,
  { gate, client, catchUp }: { gate: Gate; client: ClickHouseClient; catchUp: () => Promise<void> },
): void {
  app.openapi(statsRoute, async (context) => {
    const project = projectOf(context, 'read', gate)
    await catchUp()
    return context.json(await readStats(client, project, context.req.valid('query')), 200)
  })
  app.openapi(testsRoute, async (context) => {
    const project = projectOf(context, 'read', gate)
    await catchUp()
    return context.json({ tests: await listTests(client, project, context.req.valid('query')) }, 200)
  })
  app.openapi(graphRoute, async (context) => {
    const project = projectOf(context, 'read', gate)
    await catchUp()
    return context.json(await readDecisionGraph(client, project, context.req.valid('query')), 200)
  })
  app.openapi(graphSessionsRoute, async (context) => {
    const project = projectOf(context, 'read', gate)
    await catchUp()
    const sessions = await readGraphSessions(client, project, context.req.valid('query'))
    return context.json({ sessions }, 200)
  })
}
