import { KnownError } from '../errors/known-error.ts'
import type { Gate } from '../access/caller.ts'
import type { Hono } from 'hono'
import { agentOpsCaller, projectOfKey } from './agentops-caller.ts'
import { bodyOf, headerOf, readJsonObject } from './agentops-request.ts'

/** Effectively forever: SDKs request a token once and never again. */
const TOKEN_LASTS_MS = 100 * 365 * 86_400_000

/**
 * Exchanges a key for a token, which is the key itself. Without auth any token works; with auth, a token that outlives
 * its key would be a second secret to protect.
 */
export function addTokenRoutes(app: Hono, { gate }: { gate: Gate }): void {
  app.post('/v3/auth/token', (context) => {
    const key = keyIn(bodyOf(context))
    const project = projectOfKey(key, { header: headerOf(context), scope: 'ingest' }, gate)
    return context.json({ token: key, project_id: project, project_prem_status: 'pro' })
  })
  app.get('/v3/auth/token', (context) => {
    const { project } = agentOpsCaller(headerOf(context), 'ingest', gate)
    const expires = new Date(Date.now() + TOKEN_LASTS_MS).toISOString()
    const payload = { project_id: project, project_prem_status: 'pro', aud: 'authenticated' }
    return context.json({ message: 'The token is valid.', payload, expires_at: expires })
  })
  app.post('/public/v1/auth/access_token', (context) => {
    const key = keyIn(bodyOf(context))
    projectOfKey(key, { header: headerOf(context), scope: 'read' }, gate)
    return context.json({ bearer: key })
  })
}

function keyIn(body: Buffer): string {
  const { api_key: key } = readJsonObject(body)
  if (typeof key === 'string' && key !== '' && key.length <= 1_000) return key
  throw new KnownError(
    'BAD_REQUEST',
    'The body has no "api_key". Set AGENTOPS_API_KEY to any UUID if auth is off, else to a key of the project (playhead keys create --uuid).',
  )
}
