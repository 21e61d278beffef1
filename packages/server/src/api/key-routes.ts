import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi'
import type { Gate } from '../access/caller.ts'
import type { RegisteredKey } from '../access/registry.ts'
import { projectOf, recordAudit } from '../access/request-project.ts'
import { jsonRoute, acceptsBody, projectParameter } from './route-parts.ts'
import type { Key } from './schemas/settings.ts'

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
  const withLastUse = (key: RegisteredKey): Key => ({ ...key, lastUsedAt: gate.uses.of(key.id) })
  app.openapi(listRoute, (context) =>
    context.json({ keys: registry.keys(projectOf(context, 'admin', gate)).map(withLastUse) }, 200),
  )
  app.openapi(createKeyRoute, async (context) => {
    const project = projectOf(context, 'admin', gate)
    const { key, secret } = await registry.createKey({ project, ...context.req.valid('json') })
    const detail = `${key.scopes.join(', ')}; ${key.expiresAt === null ? 'never expires' : `expires ${key.expiresAt}`}`
    await recordAudit(context, gate, { action: 'key.created', project, subject: key.name, detail })
    return context.json({ key: withLastUse(key), secret }, 200)
  })
  app.openapi(revokeRoute, async (context) => {
    const project = projectOf(context, 'admin', gate)
    const key = await registry.revokeKey(project, context.req.valid('param').id)
    await recordAudit(context, gate, { action: 'key.revoked', project, subject: key.name })
    return context.json(withLastUse(key), 200)
  })
}
