import { OpenAPIHono } from '@hono/zod-openapi'
import { HTTPException } from 'hono/http-exception'
import { addAgentOpsRoutes } from '../agentops/add-agentops-routes.ts'
import type { Services } from '../process/services.ts'
import { asStoreError } from '../store/store-error.ts'
import { answerError, KnownError } from '../errors/known-error.ts'
import { addDeletionRoutes } from './deletion-routes.ts'
import { addDemoRoutes } from './demo-routes.ts'
import { addGraphRoutes } from './graph-routes.ts'
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
import { addTestRoutes } from './test-routes.ts'
import type { App } from '../access/request-project.ts'
import { VERSION } from './version.ts'

/** Everything the server answers except what SDKs post. */
export function createApp(services: Services): App {
  const app: App = new OpenAPIHono({
    defaultHook: (result) => {
      if (!result.success) throw badRequest(result.error.issues)
    },
  })
  app.notFound((context) => {
    const { method, path } = context.req
    throw new KnownError(
      'NOT_FOUND',
      `There is nothing at ${method} ${path.slice(0, 200)}. /api/openapi.json lists what there is; OTLP goes to /v1/traces and /v1/logs.`,
    )
  })
  app.onError((error, context) => {
    const known = asKnownError(error)
    if (known !== undefined) {
      services.counters.requestsRefused += 1
      const { status, headers, body } = answerError(known)
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
  addTestRoutes(app, services)
  addGraphRoutes(app, services)
  addProjectRoutes(app, services)
  addKeyRoutes(app, services)
  addMaintenanceRoutes(app, services)
  addDemoRoutes(app, services)
  addDeletionRoutes(app, services)
  app.doc31('/api/openapi.json', {
    openapi: '3.1.0',
    info: {
      title: 'Playhead',
      version: VERSION,
      description: 'Sessions of AI agents: what they did, what it cost, how it ended.',
    },
  })
  addAgentOpsRoutes(app, services)
  addPageRoutes(app, services)
  return app
}

/** What was done wrong by whoever asks, or by a store that is away; undefined: by us. */
function asKnownError(error: Error): KnownError | undefined {
  if (error instanceof KnownError) return error
  // The framework's own word for a body or a path that it can't read.
  if (error instanceof HTTPException && error.status < 500)
    return new KnownError('BAD_REQUEST', `The request can't be read: ${error.message}.`, { cause: error })
  if (error instanceof URIError)
    return new KnownError(
      'BAD_REQUEST',
      "The address can't be read: a % in it is not followed by two digits.",
    )
  return asStoreError(error)
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
