import { createRoute, z } from '@hono/zod-openapi'
import { endStates, stepKinds } from '@playhead/model'
import {
  graphQuerySchema,
  graphSessionsQuerySchema,
  readDecisionGraph,
  readGraphSessions,
} from '../query/decision-graph.ts'
import type { Services } from '../process/services.ts'
import { projectOf, type App } from '../access/request-project.ts'
import { answers, projectParameter } from './route-parts.ts'
import { sessionSummarySchema } from './schemas.ts'

const failureSchema = z
  .object({
    failed: z.number(),
    ended: z.number().describe('sessions that ended Success or Fail'),
    rate: z.number().nullable(),
    interval: z
      .object({ low: z.number(), high: z.number() })
      .describe('where the true rate lies, with 95 % confidence'),
  })
  .openapi('Failure')

export const graphSchema = z
  .object({
    sessions: z.number(),
    failure: failureSchema,
    isPartial: z.boolean().describe('there are more sessions than were looked at'),
    nodes: z.array(
      z.object({
        id: z.string(),
        kind: z.enum([...stepKinds, 'start', 'end']),
        name: z.string(),
        state: z.enum(endStates).optional(),
        sessions: z.number(),
        times: z.number(),
        errors: z.number(),
        isWrite: z.boolean(),
        p90Ms: z.number().nullable(),
        cost: z.number().nullable().describe('average cost of a session through it, US dollars'),
        failure: failureSchema,
      }),
    ),
    edges: z.array(
      z.object({
        from: z.string(),
        to: z.string(),
        sessions: z.number(),
        cost: z.number().nullable(),
        failure: failureSchema,
      }),
    ),
    variants: z.array(
      z.object({
        id: z.string(),
        path: z.array(z.string()),
        sessions: z.number(),
        failure: failureSchema,
        cost: z.number().nullable(),
        examples: z.object({ passed: z.array(z.string()), failed: z.array(z.string()), last: z.string() }),
      }),
    ),
    variantCount: z.number(),
  })
  .openapi('DecisionGraph')

const graphRoute = createRoute({
  method: 'get',
  path: '/api/graph',
  summary:
    'Sessions that a filter finds as one decision graph: steps, what follows what, and the ways through it',
  request: { query: graphQuerySchema.extend(projectParameter) },
  responses: answers('The graph', graphSchema),
})

const graphSessionsRoute = createRoute({
  method: 'get',
  path: '/api/graph/sessions',
  summary: 'The sessions that go through a node or an edge of the graph, newest first',
  request: { query: graphSessionsQuerySchema.extend(projectParameter) },
  responses: answers('The sessions', z.object({ sessions: z.array(sessionSummarySchema) })),
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
