import type { Store } from '../store/connect.ts'
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
import type { JoinedTraces } from '../sessions/joined-traces.ts'
import { projectParameter, jsonRoute } from './route-parts.ts'

const statsRoute = createRoute({
  ...jsonRoute('GET /api/stats', 'The statistics'),
  summary: 'Counts, failure rate, cost, tokens and durations: in total, over time and by group',
  request: { query: statsQuerySchema.extend(projectParameter) },
})

const testsRoute = createRoute({
  ...jsonRoute('GET /api/tests', 'The tests, most recently run first'),
  summary: 'The tests that sessions were recorded in: how often each passed, and its recent runs',
  request: { query: testsQuerySchema.extend(projectParameter) },
})

const graphRoute = createRoute({
  ...jsonRoute('GET /api/graph', 'The graph'),
  summary: 'The sessions that match a filter as one decision graph: nodes, edges and the most common paths',
  request: { query: graphQuerySchema.extend(projectParameter) },
})

const graphSessionsRoute = createRoute({
  ...jsonRoute('GET /api/graph/sessions', 'The sessions'),
  summary: 'The sessions that pass through a node or an edge of the graph, newest first',
  request: { query: graphSessionsQuerySchema.extend(projectParameter) },
})

export function addStatisticsRoutes(
  app: OpenAPIHono,
  {
    gate,
    store,
    joined,
    catchUp,
  }: { gate: Gate; store: Store; joined: JoinedTraces; catchUp: () => Promise<void> },
): void {
  app.openapi(statsRoute, async (context) => {
    const project = projectOf(context, 'read', gate)
    await catchUp()
    return context.json(await readStats(store, project, context.req.valid('query')), 200)
  })
  app.openapi(testsRoute, async (context) => {
    const project = projectOf(context, 'read', gate)
    await catchUp()
    return context.json({ tests: await listTests(store, project, context.req.valid('query')) }, 200)
  })
  app.openapi(graphRoute, async (context) => {
    const project = projectOf(context, 'read', gate)
    await catchUp()
    return context.json(
      await readDecisionGraph({ ...store, joined }, project, context.req.valid('query')),
      200,
    )
  })
  app.openapi(graphSessionsRoute, async (context) => {
    const project = projectOf(context, 'read', gate)
    await catchUp()
    const sessions = await readGraphSessions({ ...store, joined }, project, context.req.valid('query'))
    return context.json({ sessions }, 200)
  })
}
