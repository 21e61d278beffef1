import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi'
import { originOf, type Site } from '../access/addresses.ts'
import type { Gate } from '../access/caller.ts'
import { projectOf, recordAudit } from '../access/request-project.ts'
import type { SessionRefresher } from '../sessions/refresh-sessions.ts'
import type { SessionReader } from '../sessions/session-reader.ts'
import type { SessionTags } from '../sessions/session-tags.ts'
import { acceptsBody, jsonRoute, projectParameter } from './route-parts.ts'
import { withUrl } from './session-routes.ts'

const editRoute = createRoute({
  ...jsonRoute('PATCH /api/sessions/{id}', 'The session'),
  summary: 'Add tags to a session or remove them, whatever its spans say',
  request: {
    params: z.object({ id: z.string() }),
    query: z.object(projectParameter),
    ...acceptsBody('PATCH /api/sessions/{id}'),
  },
})

export function addTagRoutes(
  app: OpenAPIHono,
  services: { gate: Gate; site: Site; reader: SessionReader; refresher: SessionRefresher; tags: SessionTags },
): void {
  const { gate, site, reader, refresher, tags } = services
  app.openapi(editRoute, async (context) => {
    const project = projectOf(context, 'edit', gate)
    const { add, remove } = context.req.valid('json').tags
    const { id } = await reader.readSummary(project, context.req.valid('param').id)
    const edits = [...add.map((tag) => [tag, true] as const), ...remove.map((tag) => [tag, false] as const)]
    await tags.save(project, id, new Map(edits))
    await refresher.refresh(project, [id])
    const detail = [
      ...(add.length > 0 ? [`added ${add.join(', ')}`] : []),
      ...(remove.length > 0 ? [`removed ${remove.join(', ')}`] : []),
    ].join('; ')
    await recordAudit(context, gate, { action: 'sessions.tagged', project, subject: id, detail })
    const session = await reader.readSummary(project, id)
    return context.json(withUrl(session, project, originOf(context.req.url, site)), 200)
  })
}
