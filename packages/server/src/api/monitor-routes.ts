import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi'
import { describeMonitor, type Monitor } from '@playhead/model'
import { originOf, type Site } from '../access/addresses.ts'
import type { Gate } from '../access/caller.ts'
import { projectOf, recordAudit } from '../access/request-project.ts'
import { linkExample, readFirstSuspects, type FirstSuspect } from '../alerts/failing-step.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Issues } from '../findings/issues.ts'
import type { MonitorLoop } from '../monitors/monitor-loop.ts'
import type { MonitorStore, WatchedMonitor } from '../monitors/monitor-store.ts'
import { previewMonitor } from '../monitors/preview.ts'
import { sessionFilterSchema } from '../query/session-filter.ts'
import type { Store } from '../store/connect.ts'
import { acceptsBody, jsonRoute, projectParameter } from './route-parts.ts'
import type { WatchedMonitorResponse } from './schemas/monitors.ts'

const query = z.object(projectParameter)
const params = z.object({ id: z.string() })

const listRoute = createRoute({
  ...jsonRoute('GET /api/monitors', 'The monitors, by name'),
  summary: 'What is watched, and in which state it is',
  request: { query },
})

const createMonitorRoute = createRoute({
  ...jsonRoute('POST /api/monitors', 'The monitor', 201),
  summary: 'Create a monitor, or replace the one with this id',
  request: { query, ...acceptsBody('POST /api/monitors') },
})

const changeRoute = createRoute({
  ...jsonRoute('PATCH /api/monitors/{id}', 'The monitor'),
  summary: 'Change or pause a monitor. What the body does not mention stays',
  request: { params, query, ...acceptsBody('PATCH /api/monitors/{id}') },
})

const deleteRoute = createRoute({
  ...jsonRoute('DELETE /api/monitors/{id}', 'Its id'),
  summary: 'Delete a monitor',
  request: { params, query },
})

const previewRoute = createRoute({
  ...jsonRoute('GET /api/monitors/{id}/preview', 'The preview'),
  summary: 'When a monitor would have fired in the last 30 days',
  request: { params, query },
})

const draftRoute = createRoute({
  ...jsonRoute('POST /api/monitors/preview', 'The preview'),
  summary: 'The same for a monitor that does not exist yet',
  request: { query, ...acceptsBody('POST /api/monitors/preview') },
})

export type MonitorServices = {
  gate: Gate
  site: Site
  store: Store
  issues: Issues
  monitors: MonitorStore
  monitorLoop: MonitorLoop
}

export function addMonitorRoutes(app: OpenAPIHono, services: MonitorServices): void {
  addPreviewRoutes(app, services)
  const { gate, site, store, monitors, monitorLoop } = services
  app.openapi(listRoute, async (context) => {
    const project = projectOf(context, 'read', gate)
    // On a shared store another server may have evaluated them.
    if (store.engine === undefined) await monitors.reload().catch(() => {})
    const origin = originOf(context.req.url, site)
    return context.json({ monitors: await toResponses(store, monitors.list(project), origin) }, 200)
  })
  app.openapi(createMonitorRoute, async (context) => {
    const project = projectOf(context, 'edit', gate)
    const { id, ...given } = context.req.valid('json')
    const monitor = { ...given, id: id ?? freeId(given.name, monitors.list(project)) } as Monitor
    checkFilter(monitor)
    const watched = await monitors.save(project, monitor)
    await monitorLoop.evaluate(Date.now())
    await recordAudit(context, gate, {
      action: 'monitor.created',
      project,
      subject: monitor.id,
      detail: monitor.name,
    })
    const origin = originOf(context.req.url, site)
    const [response] = await toResponses(store, [monitors.find(project, watched.monitor.id)], origin)
    return context.json(response!, 201)
  })
  app.openapi(changeRoute, async (context) => {
    const project = projectOf(context, 'edit', gate)
    const { monitor } = monitors.find(project, context.req.valid('param').id)
    const { destinations = monitor.destinations ?? null, ...given } = context.req.valid('json')
    const { destinations: _, ...before } = monitor
    const changed = { ...before, ...given, ...(destinations !== null && { destinations }) } as Monitor
    checkFilter(changed)
    await monitors.save(project, changed)
    await monitorLoop.evaluate(Date.now())
    const detail = changed.isPaused === monitor.isPaused ? 'changed' : changed.isPaused ? 'paused' : 'resumed'
    await recordAudit(context, gate, { action: 'monitor.changed', project, subject: monitor.id, detail })
    const origin = originOf(context.req.url, site)
    const [response] = await toResponses(store, [monitors.find(project, monitor.id)], origin)
    return context.json(response!, 200)
  })
  app.openapi(deleteRoute, async (context) => {
    const project = projectOf(context, 'edit', gate)
    const { id } = context.req.valid('param')
    const { monitor } = monitors.find(project, id)
    await monitors.remove(project, id)
    await recordAudit(context, gate, {
      action: 'monitor.deleted',
      project,
      subject: id,
      detail: monitor.name,
    })
    return context.json({ deleted: id }, 200)
  })
}

function addPreviewRoutes(app: OpenAPIHono, { gate, store, issues, monitors }: MonitorServices): void {
  app.openapi(previewRoute, async (context) => {
    const project = projectOf(context, 'read', gate)
    const { monitor } = monitors.find(project, context.req.valid('param').id)
    return context.json(await previewMonitor({ store, issues }, project, monitor, Date.now()), 200)
  })
  app.openapi(draftRoute, async (context) => {
    const project = projectOf(context, 'read', gate)
    const draft = { ...context.req.valid('json'), id: '' } as Monitor
    checkFilter(draft)
    return context.json(await previewMonitor({ store, issues }, project, draft, Date.now()), 200)
  })
}

/** The window is the monitor's own; everything else is as in lists. */
function checkFilter({ filter }: Monitor): void {
  const parsed = sessionFilterSchema.strict().omit({ from: true, to: true }).safeParse(filter)
  if (parsed.success) return
  const [issue] = parsed.error.issues
  throw new KnownError(
    'BAD_REQUEST',
    `The filter is invalid: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}. It takes the parameters of GET /api/sessions, except from and to.`,
  )
}

/** "Refunds without identity" becomes refunds-without-identity. */
function freeId(name: string, taken: readonly WatchedMonitor[]): string {
  const base =
    name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '')
      .slice(0, 56) || 'monitor'
  const ids = new Set(taken.map(({ monitor }) => monitor.id))
  if (!ids.has(base)) return base
  for (let number = 2; ; number += 1) if (!ids.has(`${base}-${number}`)) return `${base}-${number}`
}

/** Monitors of one project. */
async function toResponses(
  store: Store,
  watched: readonly WatchedMonitor[],
  origin: string,
): Promise<WatchedMonitorResponse[]> {
  const examples = watched.flatMap(({ status }) => status.examples)
  const ids = examples.flatMap(({ sessionId, stepId }) => (stepId === undefined ? [sessionId] : []))
  const suspects = await readFirstSuspects(store, watched[0]?.project ?? '', ids).catch(
    // While the store fails, monitors are still known.
    () => new Map<string, FirstSuspect>(),
  )
  return watched.map((one) => toResponse(one, suspects, origin))
}

function toResponse(
  { project, monitor, status }: WatchedMonitor,
  suspects: ReadonlyMap<string, FirstSuspect>,
  origin: string,
): WatchedMonitorResponse {
  const iso = (ms: number) => new Date(ms).toISOString()
  return {
    monitor,
    sentence: describeMonitor(monitor),
    state: status.state,
    since: iso(status.sinceMs),
    firedAt: status.firedAtMs === null ? null : iso(status.firedAtMs),
    value: status.value,
    evaluatedAt: status.evaluatedAtMs === null ? null : iso(status.evaluatedAtMs),
    ...(status.problem !== undefined && { problem: status.problem }),
    examples: status.examples.map((example) => ({
      ...example,
      ...linkExample(example, suspects.get(example.sessionId), { project, origin }),
    })),
  }
}
