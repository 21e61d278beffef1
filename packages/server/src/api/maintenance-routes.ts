import { Readable } from 'node:stream'
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { stream } from 'hono/streaming'
import type { Gate } from '../access/caller.ts'
import { projectOf, recordAudit, requirePerson } from '../access/request-project.ts'
import { MAX_BACKUP_BYTES } from '../door/body-limits.ts'
import { limitBytes } from '../door/read-body.ts'
import type { SessionFindings } from '../findings/session-findings.ts'
import type { IngestPipeline } from '../ingest/ingest-batch.ts'
import { createBackup } from '../maintenance/backup.ts'
import { rederiveProject } from '../maintenance/rederive.ts'
import { repriceProject } from '../maintenance/reprice.ts'
import type { Restorer } from '../maintenance/restore.ts'
import type { JoinedTraces } from '../sessions/joined-traces.ts'
import type { SessionRefresher } from '../sessions/refresh-sessions.ts'
import type { Store } from '../store/connect.ts'
import type { UploadedObjects } from '../store/uploaded-objects.ts'
import { errorResponse, projectParameter, jsonRoute } from './route-parts.ts'
import type { ProgressLine, ProgressResults } from './schemas/responses.ts'
import type { RestorePlan } from './schemas/restore.ts'

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
  summary: 'Derive steps from the stored spans again, and compute findings, with the current rules',
  request: { query: z.object({ ...projectParameter, all: z.enum(['true', 'false']).default('false') }) },
  responses: progressResponses,
})

const backupRoute = createRoute({
  method: 'get',
  path: '/api/backup',
  summary: 'Back up all projects into one tar file',
  request: {
    query: z.object({
      withSecrets: z
        .enum(['true', 'false'])
        .default('false')
        .describe('also the secrets of destinations: tokens, passwords, addresses of webhooks'),
    }),
  },
  responses: {
    200: { description: 'The file', content: { 'application/x-tar': { schema: z.string() } } },
    default: errorResponse,
  },
})

const flag = z.enum(['true', 'false']).default('false')

const restoreRoute = createRoute({
  ...jsonRoute('POST /api/restore', 'What was restored, or what would be'),
  summary: 'Add the contents of a backup',
  description:
    'Every row is checked before any is written. Keys are left out unless `withKeys` is true. With `dryRun`, nothing is written. One restore, the last, can be undone.',
  request: {
    query: z.object({
      dryRun: flag.describe('only check the backup and say what it would do'),
      withKeys: flag.describe('also restore keys: their secrets then work on this server'),
    }),
    body: { required: true, content: { 'application/x-tar': { schema: z.string() } } },
  },
})

const lastRestoreRoute = createRoute({
  ...jsonRoute('GET /api/restore', 'The last restore'),
  summary: 'The restore that can be undone',
})

const undoRoute = createRoute({
  ...jsonRoute('POST /api/restore/undo', 'What was undone'),
  summary: 'Undo the last restore: remove what it added, and bring back what it replaced',
})

export type MaintenanceServices = {
  gate: Gate
  store: Store
  joined: JoinedTraces
  restorer: Restorer
  objects: UploadedObjects
  pipeline: IngestPipeline
  refresher: SessionRefresher
  findings: SessionFindings
  drain: () => Promise<void>
  report: (line: string) => void
}

export function addMaintenanceRoutes(app: OpenAPIHono, services: MaintenanceServices): void {
  const { gate, store, joined, restorer, objects, pipeline, refresher, findings, drain, report } = services
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
      rederiveProject({ store, registry, joined, findings, targets: pipeline }, project, {
        isForced,
        onProgress,
      }),
    )
  })
  app.openapi(backupRoute, async (context) => {
    requirePerson(context, gate)
    const withSecrets = context.req.valid('query').withSecrets === 'true'
    await recordAudit(context, gate, {
      action: 'backup.downloaded',
      project: null,
      ...(withSecrets && { detail: 'with the secrets of destinations' }),
    })
    await drain()
    context.header('content-type', 'application/x-tar')
    context.header('content-disposition', 'attachment; filename="playhead-backup.tar"')
    return context.body(Readable.toWeb(createBackup(store, objects, { withSecrets }))) as never
  })
  app.openapi(restoreRoute, async (context) => {
    requirePerson(context, gate)
    const sent = Readable.fromWeb(context.req.raw.body ?? new Blob([]).stream())
    const body = Readable.from(limitBytes(sent, MAX_BACKUP_BYTES))
    const { dryRun, withKeys } = context.req.valid('query')
    const isDryRun = dryRun === 'true'
    const plan = await restorer.restore(body, { withKeys: withKeys === 'true', isDryRun })
    if (!isDryRun)
      await recordAudit(context, gate, {
        action: 'backup.restored',
        project: null,
        detail: describePlan(plan),
      })
    return context.json({ isDryRun, plan }, 200)
  })
  app.openapi(lastRestoreRoute, async (context) => {
    requirePerson(context, gate)
    return context.json({ last: await restorer.last() }, 200)
  })
  app.openapi(undoRoute, async (context) => {
    requirePerson(context, gate)
    const plan = await restorer.undo()
    await recordAudit(context, gate, { action: 'backup.undone', project: null, detail: describePlan(plan) })
    return context.json({ undone: plan }, 200)
  })
}

function describePlan({ sessions, steps, keys }: RestorePlan): string {
  const told = `${sessions.total} sessions, ${steps.total} steps`
  return keys.isIncluded ? `${told}, ${keys.total} keys` : `${told}, no keys`
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
