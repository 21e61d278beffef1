import { Readable } from 'node:stream'
import { createRoute, z } from '@hono/zod-openapi'
import { stream } from 'hono/streaming'
import type { Context } from 'hono'
import { createBackup } from '../maintenance/backup.ts'
import { deleteSessions } from '../maintenance/delete-sessions.ts'
import { rederiveProject } from '../maintenance/rederive.ts'
import { repriceProject, type Progress } from '../maintenance/reprice.ts'
import { restoreBackup } from '../maintenance/restore.ts'
import { findSessionId } from '../sessions/find-session.ts'
import type { Services } from '../process/services.ts'
import { projectOf, requirePerson, type App } from '../access/request-project.ts'
import { errorResponse, respondsWith, projectParameter } from './route-parts.ts'

const progressResponses = {
  200: {
    description:
      'A line of JSON for each piece of work ({"done", "total"}), then one with the "result" or the "error"',
    content: { 'application/x-ndjson': { schema: z.string() } },
  },
  default: errorResponse,
} as const

const deleteRoute = createRoute({
  method: 'delete',
  path: '/api/sessions/{id}',
  summary: 'Delete a session with everything of it',
  request: { params: z.object({ id: z.string() }), query: z.object(projectParameter) },
  responses: respondsWith('DELETE /api/sessions/{id}', 'The deleted session'),
})

const repriceRoute = createRoute({
  method: 'post',
  path: '/api/reprice',
  summary: 'Compute every cost of the project with the prices of now, and say what changed',
  request: { query: z.object(projectParameter) },
  responses: progressResponses,
})

const rederiveRoute = createRoute({
  method: 'post',
  path: '/api/rederive',
  summary: 'Read stored spans again with the rules of now',
  request: { query: z.object({ ...projectParameter, all: z.enum(['true', 'false']).default('false') }) },
  responses: progressResponses,
})

const backupRoute = createRoute({
  method: 'get',
  path: '/api/backup',
  summary: 'Everything, of all projects, as one tar file',
  responses: {
    200: { description: 'The file', content: { 'application/x-tar': { schema: z.string() } } },
    default: errorResponse,
  },
})

const restoreRoute = createRoute({
  method: 'post',
  path: '/api/restore',
  summary: 'Add what a backup holds',
  request: { body: { required: true, content: { 'application/x-tar': { schema: z.string() } } } },
  responses: respondsWith('POST /api/restore', 'What was restored'),
})

export function addMaintenanceRoutes(app: App, services: Services): void {
  app.openapi(deleteRoute, async (context) => {
    const project = projectOf(context, 'admin', services)
    await services.drain()
    const id = await findSessionId(services.store.client, project, context.req.valid('param').id)
    await deleteSessions(services.store, project, { idsSql: '{id:String}', params: { id } })
    services.reader.forget(project, id)
    return context.json({ deleted: id }, 200)
  })
  app.openapi(repriceRoute, (context) => {
    const project = projectOf(context, 'admin', services)
    return withProgress(context, services, (onProgress) =>
      repriceProject(services, project, onProgress),
    ) as never
  })
  app.openapi(rederiveRoute, (context) => {
    const project = projectOf(context, 'admin', services)
    const isForced = context.req.valid('query').all === 'true'
    return withProgress(context, services, (onProgress) =>
      rederiveProject(services, project, { isForced, onProgress }),
    ) as never
  })
  app.openapi(backupRoute, async (context) => {
    requirePerson(context, services)
    await services.drain()
    context.header('content-type', 'application/x-tar')
    context.header('content-disposition', 'attachment; filename="playhead-backup.tar"')
    return context.body(Readable.toWeb(createBackup(services.store, services.objects))) as never
  })
  app.openapi(restoreRoute, async (context) => {
    requirePerson(context, services)
    const body = context.req.raw.body ?? new Blob([]).stream()
    return context.json(await restoreBackup(services, Readable.fromWeb(body)), 200)
  })
}

function withProgress(
  context: Context,
  services: Services,
  work: (onProgress: (progress: Progress) => Promise<void>) => Promise<unknown>,
): Response {
  context.header('content-type', 'application/x-ndjson')
  return stream(context, async (output) => {
    const line = async (value: unknown) => void (await output.write(`${JSON.stringify(value)}\n`))
    try {
      await line({ result: await work(line) })
    } catch (error) {
      services.report(`maintenance failed: ${(error as Error).stack}`)
      await line({ error: { code: 'FAILED', message: (error as Error).message } })
    }
  })
}
