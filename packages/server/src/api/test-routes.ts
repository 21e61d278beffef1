import { createRoute } from '@hono/zod-openapi'
import { listTests, testsQuerySchema } from '../query/list-tests.ts'
import type { Services } from '../process/services.ts'
import { projectOf, type App } from '../access/request-project.ts'
import { respondsWith, projectParameter } from './route-parts.ts'

const testsRoute = createRoute({
  method: 'get',
  path: '/api/tests',
  summary: 'The tests that sessions were recorded in: how often each passed, and its last runs',
  request: { query: testsQuerySchema.extend(projectParameter) },
  responses: respondsWith('GET /api/tests', 'The tests, most recently run first'),
})

export function addTestRoutes(app: App, services: Services): void {
  app.openapi(testsRoute, async (context) => {
    const project = projectOf(context, 'read', services)
    await services.catchUp()
    return context.json(
      { tests: await listTests(services.store.client, project, context.req.valid('query')) },
      200,
    )
  })
}
