import { OpenAPIHono } from '@hono/zod-openapi'
import type { Services } from '../services.ts'
import { answerError, KnownError } from './known-error.ts'
import { addHealthRoutes } from './health-routes.ts'
import { addKeyRoutes } from './key-routes.ts'
import { addLiveRoutes } from './live-routes.ts'
import { addLoginRoutes } from './login-routes.ts'
import { addMaintenanceRoutes } from './maintenance-routes.ts'
import { addPageRoutes } from './page-routes.ts'
import { addProjectRoutes } from './project-routes.ts'
import { addRecordingRoutes } from './recording-routes.ts'
import { addSessionRoutes } from './session-routes.ts'
import { addStatsRoutes } from './stats-routes.ts'
import type { App } from './request-project.ts'

/** Everything the server answers except what SDKs post. */
export function createApp(services: Services): App {
  const app: App = new OpenAPIHono({
    defaultHook: (result) => {
      if (!result.success) throw badRequest(result.error.issues)
    },
  })
  app.onError((error, context) => {
    if (error instanceof KnownError) {
      services.counters.requestsRefused += 1
      const { status, headers, body } = answerError(error)
      return context.json(body, status, headers)
    }
    services.counters.failures += 1
    services.report(`${context.req.method} ${context.req.path} failed: ${error.stack ?? error.message}`)
    return context.json(
      { error: { code: 'INTERNAL', message: 'The server failed; its output says why.' } },
      500,
    )
  })
  addHealthRoutes(app, services)
  addLoginRoutes(app, services)
  addSessionRoutes(app, services)
  addRecordingRoutes(app, services)
  addLiveRoutes(app, services)
  addStatsRoutes(app, services)
  addProjectRoutes(app, services)
  addKeyRoutes(app, services)
  addMaintenanceRoutes(app, services)
  app.doc31('/api/openapi.json', {
    openapi: '3.1.0',
    info: {
      title: 'Playhead',
      version: '0.1.0',
      description: 'Sessions of AI agents: what they did, what it cost, how it ended.',
    },
  })
  addPageRoutes(app, services)
  return app
}

function badRequest(issues: readonly { path: PropertyKey[]; message: string }[]): KnownError {
  const problems = issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`,
  )
  return new KnownError(
    'BAD_REQUEST',
    `The request can't be read: ${problems.slice(0, 5).join('; ')}. /api/openapi.json says what it may hold.`,
  )
}
