import type { IncomingMessage, ServerResponse } from 'node:http'
import { OpenAPIHono } from '@hono/zod-openapi'
import { HTTPException } from 'hono/http-exception'
import type { Site } from '../access/addresses.ts'
import type { Gate } from '../access/caller.ts'
import { addAgentOpsRoutes, isAgentOpsPath, toAgentOpsError } from '../agentops/agentops-routes.ts'
import { agentOpsBodyRules } from '../agentops/body-rules.ts'
import { KnownError, toErrorResponse } from '../errors/known-error.ts'
import type { Diagnostics } from '../ingest/counters.ts'
import type { BodyLimits } from '../door/body-budget.ts'
import { createRuleFinder } from '../door/body-rules.ts'
import type { Destination } from '../door/door.ts'
import { toRefusal } from '../door/refuse-request.ts'
import type { DevRunners } from '../live/dev-runners.ts'
import type { Issues } from '../findings/issues.ts'
import type { SqlQueries } from '../sql/run-query.ts'
import type { WordBuilder } from '../store/word-builder.ts'
import type { LiveFeed } from '../live/live-feed.ts'
import type { ServerNodes } from '../nodes/server-nodes.ts'
import type { SessionMetrics } from '../monitors/session-metrics.ts'
import type { SessionReader } from '../sessions/session-reader.ts'
import type { SessionTags } from '../sessions/session-tags.ts'
import type { DamagedFiles } from '../log/damaged-files.ts'
import { asStoreError } from '../store/store-error.ts'
import { addAlertRoutes, type AlertServices } from './alert-routes.ts'
import { addAuditRoutes } from './audit-routes.ts'
import { apiBodyRules } from './body-rules.ts'
import { addDeletionRoutes } from './deletion-routes.ts'
import { addDevRoutes } from './dev-routes.ts'
import { addDemoRoutes } from './demo-routes.ts'
import { addExportRoutes, addQueryRoutes } from './export-routes.ts'
import { addFindingsRoutes } from './findings-routes.ts'
import { addHealthRoutes } from './health-routes.ts'
import { addKeyRoutes } from './key-routes.ts'
import { addLiveRoutes } from './live-routes.ts'
import { addLoginRoutes } from './login-routes.ts'
import { addMaintenanceRoutes, type MaintenanceServices } from './maintenance-routes.ts'
import { addMonitorRoutes, type MonitorServices } from './monitor-routes.ts'
import { addOidcRoutes } from './oidc-routes.ts'
import { addPageRoutes } from './page-routes.ts'
import { addPeopleRoutes } from './people-routes.ts'
import { addProjectRoutes } from './project-routes.ts'
import { addRecordingRoutes } from './recording-routes.ts'
import { addScoreRoutes } from './score-routes.ts'
import { addShareRoutes } from './share-routes.ts'
import { addSharedRoutes } from './shared-routes.ts'
import { addSessionRoutes } from './session-routes.ts'
import { addStatisticsRoutes } from './statistics-routes.ts'
import { addTagRoutes } from './tag-routes.ts'
import { VERSION } from './version.ts'

/** What the routes together need; each takes only its part. */
export type AppServices = MaintenanceServices &
  Diagnostics &
  Pick<MonitorServices, 'monitors' | 'monitorLoop'> & { sessionMetrics: SessionMetrics } & Pick<
    AlertServices,
    'destinations' | 'outbox' | 'alertWorker' | 'addressGuard'
  > & {
    gate: Gate
    site: Site
    reader: SessionReader
    tags: SessionTags
    issues: Issues
    nodes: ServerNodes
    live: LiveFeed
    runners: DevRunners
    sql: SqlQueries
    bodyLimits: BodyLimits
    dataDirectory: string
    damaged: DamagedFiles
    words: WordBuilder
    catchUp: () => Promise<void>
    catchUpLists: () => Promise<boolean>
  }

/** The app that handles every request except those of SDKs that send spans or log records. `addMore` adds routes before the pages. */
export function createApp(services: AppServices, addMore: (app: OpenAPIHono) => void): OpenAPIHono {
  const { gate, site } = services
  const all = { ...services, client: services.store.client, budget: services.bodyLimits.budget }
  const app = new OpenAPIHono({
    defaultHook: (result) => {
      if (!result.success) throw badRequest(result.error.issues)
    },
  })
  handleErrors(app, services)
  addHealthRoutes(app, all)
  addOidcRoutes(app, all)
  addLoginRoutes(app, all)
  addSessionRoutes(app, all)
  addRecordingRoutes(app, all)
  addLiveRoutes(app, all)
  addStatisticsRoutes(app, all)
  addFindingsRoutes(app, all)
  addQueryRoutes(app, all)
  addExportRoutes(app, all)
  addDevRoutes(app, all)
  addProjectRoutes(app, gate)
  addKeyRoutes(app, gate)
  addPeopleRoutes(app, gate)
  addAuditRoutes(app, all)
  addMaintenanceRoutes(app, all)
  addDemoRoutes(app, all)
  addDeletionRoutes(app, all)
  addTagRoutes(app, all)
  addScoreRoutes(app, all)
  addShareRoutes(app, all)
  addSharedRoutes(app, all)
  addMonitorRoutes(app, all)
  addAlertRoutes(app, all)
  addDocument(app)
  addAgentOpsRoutes(app, all)
  addMore(app)
  addPageRoutes(app, site)
  return app
}

/** Made once: anyone may ask for it, and making it takes a while. */
function addDocument(app: OpenAPIHono): void {
  let document: Uint8Array<ArrayBuffer> | undefined
  app.get('/api/openapi.json', (context) => {
    document ??= new TextEncoder().encode(
      JSON.stringify(
        app.getOpenAPI31Document({
          openapi: '3.1.0',
          info: {
            title: 'Playhead',
            version: VERSION,
            description: 'Sessions of AI agents: what they did, what it cost, and how they ended.',
          },
        }),
      ),
    )
    return context.body(document, 200, { 'content-type': 'application/json' })
  })
}

/** Where the door leads for all these requests. `fetch` is the app's, wrapped. */
export function createAppDestination(
  { gate, bodyLimits, counters, report }: Pick<AppServices, 'gate' | 'bodyLimits'> & Diagnostics,
  listener: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Destination {
  const rules = { ...apiBodyRules(gate), ...agentOpsBodyRules(gate, bodyLimits.maxBytes) }
  return {
    findRule: createRuleFinder(rules),
    // Hono reads a body from here, if it is set, and not from the connection.
    handle: (request, response, { body }) =>
      listener(body === undefined ? request : Object.assign(request, { rawBody: body.whole() }), response),
    describe(error, request) {
      if (!(error instanceof KnownError)) {
        counters.failures += 1
        report(
          `${request.method} ${request.url} failed: ${error instanceof Error ? error.stack : String(error)}`,
        )
        return toRefusal({ status: 500, headers: {}, body: internalError })
      }
      counters.requestsRefused += 1
      return toRefusal(isAgentOpsPath(request.url ?? '') ? toAgentOpsError(error) : toErrorResponse(error))
    },
  }
}

const internalError = {
  error: { code: 'INTERNAL', message: 'Internal error; see the output of the server.' },
}

function handleErrors(app: OpenAPIHono, { counters, report }: Diagnostics): void {
  app.notFound(({ req: { method, path } }) => {
    throw new KnownError(
      'NOT_FOUND',
      `There is no route ${method} ${path.slice(0, 200)}. /api/openapi.json lists all routes; OTLP goes to /v1/traces and /v1/logs.`,
    )
  })
  app.onError((error, context) => {
    const known = asKnownError(error)
    if (known !== undefined) {
      counters.requestsRefused += 1
      const { status, headers, body } = toErrorResponse(known)
      return context.json(body, status, headers)
    }
    counters.failures += 1
    report(`${context.req.method} ${context.req.path} failed: ${error.stack ?? error.message}`)
    return context.json(internalError, 500)
  })
}

/** The error to respond with if the client or the store caused it; undefined for a bug of ours. */
function asKnownError(error: Error): KnownError | undefined {
  if (error instanceof KnownError) return error
  // Hono throws these for invalid bodies and paths.
  if (error instanceof HTTPException && error.status < 500)
    return new KnownError('BAD_REQUEST', `The request is invalid: ${error.message}.`, { cause: error })
  if (error instanceof URIError)
    return new KnownError('BAD_REQUEST', 'The URL is invalid: a % is not followed by two hex digits.')
  return asStoreError(error)
}

function badRequest(issues: readonly { path: PropertyKey[]; message: string }[]): KnownError {
  const problems = issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`,
  )
  return new KnownError(
    'BAD_REQUEST',
    `The request is invalid: ${problems.slice(0, 5).join('; ')}. /api/openapi.json describes it.`,
  )
}
