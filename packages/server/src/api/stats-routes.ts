import { createRoute } from '@hono/zod-openapi'
import { readStats, statsQuerySchema } from '../query/stats.ts'
import type { Services } from '../process/services.ts'
import { projectOf, type App } from '../access/request-project.ts'
import { respondsWith, projectParameter } from './route-parts.ts'

const statsRoute = createRoute({
  method: 'get',
  path: '/api/stats',
  summary: 'Counts, failure rate, cost, tokens and durations: in all, over time, by group',
  request: { query: statsQuerySchema.extend(projectParameter) },
  responses: respondsWith('GET /api/stats', 'The figures'),
})

export function addStatsRoutes(app: App, services: Services): void {
  app.openapi(statsRoute, async (context) => {
    const project = projectOf(context, 'read', services)
    await services.catchUp()
    return context.json(await readStats(services.store.client, project, context.req.valid('query')), 200)
  })
}
