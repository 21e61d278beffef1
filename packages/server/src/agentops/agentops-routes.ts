import type { OpenAPIHono } from '@hono/zod-openapi'
import { Hono } from 'hono'
import { KnownError, toErrorResponse, type ErrorResponse } from '../errors/known-error.ts'
import { addLinkRoutes, type LinkServices } from './link-routes.ts'
import { addPublicRoutes, type PublicServices } from './public-routes.ts'
import { addSessionDataRoutes } from './session-data-routes.ts'
import { addTokenRoutes } from './token-routes.ts'
import { addUploadRoutes, type UploadServices } from './upload-routes.ts'
import { addV2Routes } from './v2-routes.ts'

/** Adds what AgentOps' SDKs call besides OTLP, so that they work with this server unchanged. */
export function addAgentOpsRoutes(
  app: OpenAPIHono,
  services: UploadServices & PublicServices & LinkServices,
): void {
  const { counters } = services.pipeline
  const agentOps = new Hono()
  agentOps.onError((error, context) => {
    if (!(error instanceof KnownError)) throw error
    counters.requestsRefused += 1
    const { status, headers, body } = toAgentOpsError(error)
    return context.json(body, status, headers)
  })
  addTokenRoutes(agentOps, services)
  addUploadRoutes(agentOps, services)
  addV2Routes(agentOps, services)
  addSessionDataRoutes(agentOps, services)
  addPublicRoutes(agentOps, services)
  app.route('/', agentOps)
  addLinkRoutes(app, services)
}

export function isAgentOpsPath(pathname: string): boolean {
  return /^\/(v[234]|public\/v1)\//.test(pathname)
}

/** AgentOps' SDKs print `message`; ours read `error`. */
export function toAgentOpsError(error: KnownError): ErrorResponse {
  const response = toErrorResponse(error)
  const body: ErrorResponse['body'] & { message: string } = { ...response.body, message: error.message }
  return { ...response, body }
}
