import { createRoute, z } from '@hono/zod-openapi'
import { deleteSessions } from '../maintenance/delete-sessions.ts'
import type { Services } from '../process/services.ts'
import { projectOf, type App } from '../access/request-project.ts'
import { respondsWith, takesBody, projectParameter } from './route-parts.ts'

const deleteManyRoute = createRoute({
  method: 'post',
  path: '/api/sessions/delete',
  summary: 'Delete sessions with everything of them, all at once',
  request: {
    query: z.object(projectParameter),
    ...takesBody('POST /api/sessions/delete'),
  },
  responses: respondsWith('POST /api/sessions/delete', 'The deleted sessions'),
})

export function addDeletionRoutes(app: App, services: Services): void {
  app.openapi(deleteManyRoute, async (context) => {
    const project = projectOf(context, 'admin', services)
    const { ids } = context.req.valid('json')
    await services.drain()
    await deleteSessions(services.store, project, {
      idsSql: 'SELECT arrayJoin({ids:Array(String)})',
      params: { ids },
    })
    for (const id of ids) services.reader.forget(project, id)
    return context.json({ deleted: ids }, 200)
  })
}
