import { agentOpsSessionId } from '@playhead/model'
import { projectOfHeaders, type Gate, type HeaderReader } from '../access/caller.ts'
import type { Scope } from '../api/schemas/settings.ts'
import { KnownError } from '../errors/known-error.ts'

/** The project that an AgentOps SDK sends to, its key, and the session if its token names one. */
export type AgentOpsCaller = { project: string; key: string | undefined; sessionId: string | undefined }

const keyHeaders = ['x-agentops-api-key', 'x-agentops-auth']
const sessionToken = /^(.*)\.([0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12})$/i

/** Identifies an AgentOps SDK by its key, or by a token from this server. */
export function agentOpsCaller(header: HeaderReader, scope: Scope, gate: Gate): AgentOpsCaller {
  const bearer = /^bearer (.*)$/i.exec(header('authorization') ?? '')?.[1]?.trim()
  const token = bearer === undefined ? undefined : readSessionToken(bearer)
  const key = keyHeaders.map(header).find((value) => value !== undefined && value !== '')
  const secret = (token === undefined ? bearer : token.secret) ?? key
  // The SDK may send another server's token together with our key.
  const withKey: HeaderReader = (name) => (name === 'x-api-key' ? (header(name) ?? key) : header(name))
  return {
    project: projectOfKey(secret, { header: withKey, scope }, gate),
    key: key ?? secret,
    sessionId: agentOpsSessionId(token?.sessionId),
  }
}

/** The project of an AgentOps key, authorized like any other request. */
export function projectOfKey(
  key: string | undefined,
  { header, scope }: { header: HeaderReader; scope: Scope },
  gate: Gate,
): string {
  const bearer = key === undefined ? undefined : `Bearer ${key}`
  try {
    return projectOfHeaders((name) => (name === 'authorization' ? bearer : header(name)), scope, gate)
  } catch (error) {
    if (!(error instanceof KnownError) || error.code !== 'UNAUTHORIZED') throw error
    throw new KnownError(
      'UNAUTHORIZED',
      'AGENTOPS_API_KEY is unknown to this server or revoked. Create one with: playhead keys create --uuid',
    )
  }
}

/**
 * A session's token contains its key. So the server needs no signing secret, every node accepts the token, and it stays
 * valid until the key is revoked: SDKs never request a second one.
 */
export function writeSessionToken(key: string | undefined, sessionId: string): string {
  return `${key ?? ''}.${sessionId}`
}

function readSessionToken(token: string): { secret: string | undefined; sessionId: string } | undefined {
  const match = sessionToken.exec(token)
  return match === null ? undefined : { secret: match[1] || undefined, sessionId: match[2]! }
}
