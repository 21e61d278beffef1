import { createRoute, z } from '@hono/zod-openapi'
import type { Services } from '../process/services.ts'
import { projectOf, type App } from '../access/request-project.ts'
import { respondsWith, takesBody, projectParameter } from './route-parts.ts'

const listRoute = createRoute({
  method: 'get',
  path: '/api/keys',
  summary: "The project's keys, without their secrets",
  request: { query: z.object(projectParameter) },
  responses: respondsWith('GET /api/keys', 'The keys'),
})

const createKeyRoute = createRoute({
  method: 'post',
  path: '/api/keys',
  summary: 'Create a key; the secret is in this answer and never again',
  request: {
    query: z.object(projectParameter),
    ...takesBody('POST /api/keys'),
  },
  responses: respondsWith('POST /api/keys', 'The key and its secret'),
})

const revokeRoute = createRoute({
  method: 'delete',
  path: '/api/keys/{id}',
  summary: 'Revoke a key: it stops working at once',
  request: { params: z.object({ id: z.string() }), query: z.object(projectParameter) },
  responses: respondsWith('DELETE /api/keys/{id}', 'The revoked key'),
})

export function addKeyRoutes(app: App, services: Services): void {
  const { registry } = services
  app.openapi(listRoute, (context) =>
    context.json({ keys: registry.keys(projectOf(context, 'admin', services)) }, 200),
  )
  app.openapi(createKeyRoute, async (context) => {
    const project = projectOf(context, 'admin', services)
    return context.json(await registry.createKey({ project, ...context.req.valid('json') }), 200)
  })
  app.openapi(revokeRoute, async (context) => {
    const project = projectOf(context, 'admin', services)
    return context.json(await registry.revokeKey(project, context.req.valid('param').id), 200)
  })
}
