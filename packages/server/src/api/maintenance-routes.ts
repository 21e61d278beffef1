import { Readable } from 'node:stream'
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { stream } from 'hono/streaming'
import type { Gate } from '../access/caller.ts'
import { projectOf, recordAudit, requirePerson } from '../access/request-project.ts'
import { MAX_BACKUP_BYTES } from '../door/body-limits.ts'
import { limitBytes } from '../door/read-body.ts'
import type { IngestPipeline } from '../ingest/ingest-batch.ts'
import { createBackup } from '../maintenance/backup.ts'
import { rederiveProject } from '../maintenance/rederive.ts'
import { repriceProject } from '../maintenance/reprice.ts'
import { restoreBackup } from '../maintenance/restore.ts'
import type { JoinedTraces } from '../sessions/joined-traces.ts'
import type { SessionRefresher } from '../sessions/refresh-sessions.ts'
import type { StoredLogs } from '../sessions/stored-logs.ts'
import type { Store } from '../store/connect.ts'
import type { UploadedObjects } from '../store/uploaded-objects.ts'
import { errorResponse, projectParameter, jsonRoute } from './route-parts.ts'
import type { ProgressLine, ProgressResults } from './schemas/responses.ts'

const progressResponses = {
  200: {
    description: 'Lines of JSON: progress ({"done", "total"}), then the "result" or the "error"',
    content: { 'application/x-ndjson': { schema: z.string() } },
  },
  default: errorResponse,
} as const

const repriceRoute = createRoute({
  method: 'post',
  path: '/api/reprice',
  summary: "Recompute all costs of the project with today's prices, and report what changed",
  request: { query: z.object(projectParameter) },
  responses: progressResponses,
})

const rederiveRoute = createRoute({
  method: 'post',
  path: '/api/rederive',
  summary: 'Derive steps from the stored spans again, with the current rules',
  request: { query: z.object({ ...projectParameter, all: z.enum(['true', 'false']).default('false') }) },
  responses: progressResponses,
})

const backupRoute = createRoute({
  method: 'get',
  path: '/api/backup',
  summary: 'Back up all projects into one tar file',
  responses: {
    200: { description: 'The file', content: { 'application/x-tar': { schema: z.string() } } },
    default: errorResponse,
  },
})

const restoreRoute = createRoute({
  ...jsonRoute('POST /api/restore', 'What was restored'),
  summary: 'Add the contents of a backup',
  request: { body: { required: true, content: { 'application/x-tar': { schema: z.string() } } } },
})

export type MaintenanceServices = {
  gate: Gate
  store: Store
  storedLogs: StoredLogs
  joined: JoinedTraces
  objects: UploadedObjects
  pipeline: IngestPipeline
  refresher: SessionRefresher
  drain: () => Promise<void>
  report: (line: string) => void
}

export function addMaintenanceRoutes(app: OpenAPIHono, services: MaintenanceServices): void {
  const { gate, store, storedLogs, joined, objects, pipeline, refresher, drain, report } = services
  const { registry } = gate
  app.openapi(repriceRoute, async (context) => {
    const project = projectOf(context, 'admin', gate)
    await recordAudit(context, gate, { action: 'sessions.repriced', project })
    return streamProgress<ProgressResults['POST /api/reprice']>(context, report, (onProgress) =>
      repriceProject({ store, registry, joined, refresher }, project, onProgress),
    )
  })
  app.openapi(rederiveRoute, async (context) => {
    const project = projectOf(context, 'admin', gate)
    await recordAudit(context, gate, { action: 'sessions.rederived', project })
    const isForced = context.req.valid('query').all === 'true'
    return streamProgress<ProgressResults['POST /api/rederive']>(context, report, (onProgress) =>
      rederiveProject({ store, registry, joined, targets: pipeline }, project, { isForced, onProgress }),
    )
  })
  app.openapi(backupRoute, async (context) => {
    requirePerson(context, gate)
    await recordAudit(context, gate, { action: 'backup.downloaded', project: null })
    await drain()
    context.header('content-type', 'application/x-tar')
    context.header('content-disposition', 'attachment; filename="playhead-backup.tar"')
    return context.body(Readable.toWeb(createBackup(store, objects))) as never
  })
  app.openapi(restoreRoute, async (context) => {
    requirePerson(context, gate)
    const sent = Readable.fromWeb(context.req.raw.body ?? new Blob([]).stream())
    const body = Readable.from(limitBytes(sent, MAX_BACKUP_BYTES))
    const restored = await restoreBackup({ store, storedLogs, joined, objects, registry, refresher }, body)
    const detail = `${restored.parts} parts, ${restored.sessions} sessions`
    await recordAudit(context, gate, { action: 'backup.restored', project: null, detail })
    return context.json(restored, 200)
  })
}

type Progress = { done: number; total: number }

function streamProgress<Result>(
  context: Context,
  report: (line: string) => void,
  work: (onProgress: (progress: Progress) => Promise<void>) => Promise<Result>,
): never {
  context.header('content-type', 'application/x-ndjson')
  return stream(context, async (output) => {
    const write = async (line: ProgressLine<Result>) => void (await output.write(`${JSON.stringify(line)}\n`))
    try {
      await write({ result: await work(write) })
    } catch (error) {
      report(`Maintenance failed: ${(error as Error).stack}`)
      await write({ error: { code: 'FAILED', message: (error as Error).message } })
    }
  }) as never
}
