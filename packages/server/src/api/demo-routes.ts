import { createRoute, z } from '@hono/zod-openapi'
import { isDemoAvailable, recordDemo } from './record-demo.ts'
import type { Services } from '../process/services.ts'
import { projectOf, type App } from '../access/request-project.ts'
import { respondsWith, projectParameter } from './route-parts.ts'

const askRoute = createRoute({
  method: 'get',
  path: '/api/demo',
  summary: 'Whether demo sessions can be recorded here',
  request: { query: z.object(projectParameter) },
  responses: respondsWith('GET /api/demo', 'Whether they can be recorded'),
})

const recordRoute = createRoute({
  method: 'post',
  path: '/api/demo',
  summary: 'Record the demo sessions: the example agent runs against a scripted model on this machine',
  request: { query: z.object(projectParameter) },
  responses: respondsWith('POST /api/demo', 'The sessions are recorded'),
})

export function addDemoRoutes(app: App, services: Services): void {
  app.openapi(askRoute, (context) => {
    projectOf(context, 'read', services)
    return context.json({ isAvailable: isDemoAvailable() }, 200)
  })
  app.openapi(recordRoute, async (context) => {
    await recordDemo(services, projectOf(context, 'admin', services))
    return context.json({ ok: true as const }, 200)
  })
}
