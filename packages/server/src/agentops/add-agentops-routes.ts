import type { App } from '../access/request-project.ts'
import type { Services } from '../process/services.ts'
import { addLinkRoutes } from './link-routes.ts'
import { addPublicRoutes } from './public-routes.ts'
import { addSessionDataRoutes } from './session-data-routes.ts'
import { addTokenRoutes } from './token-routes.ts'
import { addUploadRoutes } from './upload-routes.ts'
import { addV2Routes } from './v2-routes.ts'

/** What AgentOps' own SDKs call besides OTLP, so that they work here as they are. */
export function addAgentOpsRoutes(app: App, services: Services): void {
  addTokenRoutes(app, services)
  addUploadRoutes(app, services)
  addV2Routes(app, services)
  addSessionDataRoutes(app, services)
  addPublicRoutes(app, services)
  addLinkRoutes(app, services)
}
