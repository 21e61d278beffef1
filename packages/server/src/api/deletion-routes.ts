import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi'
import type { Gate } from '../access/caller.ts'
import { projectOf, recordAudit } from '../access/request-project.ts'
import { deleteSessions } from '../maintenance/delete-sessions.ts'
import { findSessionId } from '../sessions/find-session.ts'
import type { JoinedTraces } from '../sessions/joined-traces.ts'
import type { SessionReader } from '../sessions/session-reader.ts'
import type { Store } from '../store/connect.ts'
import { projectParameter, jsonRoute, acceptsBody } from './route-parts.ts'

const deleteOneRoute = createRoute({
  ...jsonRoute('DELETE /api/sessions/{id}', 'The id of the deleted session'),
  summary: 'Delete a session with all its data',
  request: { params: z.object({ id: z.string() }), query: z.object(projectParameter) },
})

const deleteManyRoute = createRoute({
  ...jsonRoute('POST /api/sessions/delete', 'The ids of the deleted sessions'),
  summary: 'Delete several sessions with all their data',
  request: {
    query: z.object(projectParameter),
    ...acceptsBody('POST /api/sessions/delete'),
  },
})

export function addDeletionRoutes(
  app: OpenAPIHono,
  services: {
    gate: Gate
    store: Store
    joined: JoinedTraces
    reader: SessionReader
    drain: () => Promise<void>
  },
): void {
  const { gate, store, joined, reader, drain } = services
  const index = { client: store.client, joined }
  app.openapi(deleteOneRoute, async (context) => {
    const project = projectOf(context, 'admin', gate)
    await drain()
    const id = await findSessionId(index, project, context.req.valid('param').id)
    await deleteSessions(store, project, { idsSql: '{id:String}', params: { id } })
    reader.invalidate(project, id)
    await recordAudit(context, gate, { action: 'sessions.deleted', project, subject: id })
    return context.json({ deleted: id }, 200)
  })
  app.openapi(deleteManyRoute, async (context) => {
    const project = projectOf(context, 'admin', gate)
    await drain()
    const ids = await joined.sessionsOf(project, context.req.valid('json').ids)
    await deleteSessions(store, project, {
      idsSql: 'SELECT arrayJoin({ids:Array(String)})',
      params: { ids },
    })
    for (const id of ids) reader.invalidate(project, id)
    const detail = ids.length === 1 ? '1 session' : `${ids.length} sessions`
    await recordAudit(context, gate, { action: 'sessions.deleted', project, subject: ids.join(', '), detail })
    return context.json({ deleted: ids }, 200)
  })
}
