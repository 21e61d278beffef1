import { createRoute } from '@hono/zod-openapi'
import {
  graphQuerySchema,
  graphSessionsQuerySchema,
  readDecisionGraph,
  readGraphSessions,
} from '../query/decision-graph.ts'
import type { Services } from '../process/services.ts'
import { projectOf, type App } from '../access/request-project.ts'
import { respondsWith, projectParameter } from './route-parts.ts'

const graphRoute = createRoute({
  method: 'get',
  path: '/api/graph',
  summary:
    'Sessions that a filter finds as one decision graph: steps, what follows what, and the ways through it',
  request: { query: graphQuerySchema.extend(projectParameter) },
  responses: respondsWith('GET /api/graph', 'The graph'),
})

const graphSessionsRoute = createRoute({
  method: 'get',
  path: '/api/graph/sessions',
  summary: 'The sessions that go through a node or an edge of the graph, newest first',
  request: { query: graphSessionsQuerySchema.extend(projectParameter) },
  responses: respondsWith('GET /api/graph/sessions', 'The sessions'),
})

export function addGraphRoutes(app: App, services: Services): void {
  app.openapi(graphRoute, async (context) => {
    const project = projectOf(context, 'read', services)
    await services.catchUp()
    return context.json(
      await readDecisionGraph(services.store.client, project, context.req.valid('query')),
      200,
    )
  })
  app.openapi(graphSessionsRoute, async (context) => {
    const project = projectOf(context, 'read', services)
    await services.catchUp()
    return context.json(
      { sessions: await readGraphSessions(services.store.client, project, context.req.valid('query')) },
      200,
    )
  })
}
