import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi'
import type { Gate } from '../access/caller.ts'
import { projectOf } from '../access/request-project.ts'
import { jsonRoute, acceptsBody, projectParameter } from './route-parts.ts'

const listRoute = createRoute({
  ...jsonRoute('GET /api/keys', 'The keys'),
  summary: "The project's keys, without their secrets",
  request: { query: z.object(projectParameter) },
})

const createKeyRoute = createRoute({
  ...jsonRoute('POST /api/keys', 'The key and its secret'),
  summary: 'Create a key; only this response contains its secret',
  request: {
    query: z.object(projectParameter),
    ...acceptsBody('POST /api/keys'),
  },
})

const revokeRoute = createRoute({
  ...jsonRoute('DELETE /api/keys/{id}', 'The revoked key'),
  summary: 'Revoke a key; it stops working immediately',
  request: { params: z.object({ id: z.string() }), query: z.object(projectParameter) },
})

export function addKeyRoutes(app: OpenAPIHono, gate: Gate): void {
  const { registry } = gate
  app.openapi(listRoute, (context) =>
    context.json({ keys: registry.keys(projectOf(context, 'admin', gate)) }, 200),
  )
  app.openapi(createKeyRoute, async (context) => {
    const project = projectOf(context, 'admin', gate)
    return context.json(await registry.createKey({ project, ...context.req.valid('json') }), 200)
  })
  app.openapi(revokeRoute, async (context) => {
    const project = projectOf(context, 'admin', gate)
    return context.json(await registry.revokeKey(project, context.req.valid('param').id), 200)
  })
}
