import { createRoute } from '@hono/zod-openapi'
import { renderMetrics, type Gauges } from './metrics.ts'
import type { Services } from '../process/services.ts'
import { requirePerson, type App } from '../access/request-project.ts'
import { KnownError } from '../errors/known-error.ts'
import { respondsWith } from './route-parts.ts'
import { readDisk } from '../query/disk-use.ts'
import { VERSION } from './version.ts'

const healthRoute = createRoute({
  method: 'get',
  path: '/api/health',
  summary: 'What the server is doing: rows in, rows waiting, disk',
  responses: respondsWith('GET /api/health', 'The figures'),
})

export function addHealthRoutes(app: App, services: Services): void {
  app.get('/healthz', (context) => context.text('ok\n'))
  app.get('/readyz', async (context) => {
    try {
      await services.store.client
        .query({ query: 'SELECT 1', format: 'JSONEachRow' })
        .then((result) => result.text())
    } catch (error) {
      throw new KnownError(
        'STORE_UNAVAILABLE',
        'The store does not answer; what is sent is kept in the log meanwhile.',
        { cause: error },
      )
    }
    return context.text('ready\n')
  })
  app.get('/metrics', (context) =>
    context.text(renderMetrics(services.counters, gauges(services), services.targets.dialectFailures.counts)),
  )
  app.openapi(healthRoute, async (context) => {
    requirePerson(context, services)
    const { counters } = services
    const { pendingRows, engineRestarts, liveViewers } = gauges(services)
    return context.json(
      {
        version: VERSION,
        uptimeMs: Date.now() - counters.startedAtMs,
        spansStored: counters.spansStored,
        spansRejected: counters.spansRejected,
        logsStored: counters.logsStored,
        pendingRows,
        engineRestarts,
        liveViewers,
        disk: await readDisk(services.store.client, services.config.dataDirectory),
      },
      200,
    )
  })
}

function gauges(services: Services): Gauges {
  const [steps, logs] = [services.targets.steps.state(), services.targets.logs.state()]
  return {
    pendingRows: steps.pendingRows + logs.pendingRows,
    pendingBytes: steps.pendingBytes + logs.pendingBytes,
    pendingSegments: steps.segments + logs.segments,
    flushFailures: steps.flushFailures + logs.flushFailures,
    engineRestarts: services.store.engine?.restarts() ?? 0,
    liveViewers: services.live.viewerCount,
    bytesInFlight: services.budget.bytesInFlight,
    residentBytes: process.memoryUsage.rss(),
  }
}
