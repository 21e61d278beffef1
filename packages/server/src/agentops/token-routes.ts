import { KnownError } from '../errors/known-error.ts'
import type { App } from '../access/request-project.ts'
import type { Services } from '../process/services.ts'
import { agentOpsCaller, projectOfKey } from './agentops-caller.ts'
import { answerAgentOps, headerOf, readJsonObject, withAgentOpsBody } from './answer-agentops.ts'

/** Farther away than any SDK will live to see; they ask for a token once and never again. */
const TOKEN_LASTS_MS = 100 * 365 * 86_400_000

/**
 * The exchange of a key for a token. The token is the key itself: where auth is off anything will do, and where it is on a
 * token that outlives its key would be a second secret to guard.
 */
export function addTokenRoutes(app: App, services: Services): void {
  app.post(
    '/v3/auth/token',
    answerAgentOps(services, (context) =>
      withAgentOpsBody(context, services, async (body) => {
        const key = keyIn(body)
        const project = projectOfKey(key, { header: headerOf(context), scope: 'ingest' }, services)
        return context.json({ token: key, project_id: project, project_prem_status: 'pro' })
      }),
    ),
  )
  app.get(
    '/v3/auth/token',
    answerAgentOps(services, (context) => {
      const { project } = agentOpsCaller(headerOf(context), 'ingest', services)
      const expires = new Date(Date.now() + TOKEN_LASTS_MS).toISOString()
      const payload = { project_id: project, project_prem_status: 'pro', aud: 'authenticated' }
      return context.json({ message: 'The token is valid.', payload, expires_at: expires })
    }),
  )
  app.post(
    '/public/v1/auth/access_token',
    answerAgentOps(services, (context) =>
      withAgentOpsBody(context, services, async (body) => {
        const key = keyIn(body)
        projectOfKey(key, { header: headerOf(context), scope: 'read' }, services)
        return context.json({ bearer: key })
      }),
    ),
  )
}

function keyIn(body: Buffer): string {
  const { api_key: key } = readJsonObject(body)
  if (typeof key === 'string' && key !== '' && key.length <= 1_000) return key
  throw new KnownError(
    'BAD_REQUEST',
    'The body has no "api_key". Set AGENTOPS_API_KEY: any UUID while auth is off here, else a key of the project (playhead keys create --uuid).',
  )
}
