import { agentOpsSessionId } from '@playhead/model'
import { authorize, identify, type Caller, type HeaderReader } from '../access/caller.ts'
import type { Scope } from '../api/schemas/settings.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Services } from '../process/services.ts'

/** What an AgentOps SDK may do, and the session that its token is for, if it is for one. */
export type AgentOpsCaller = { project: string; key: string | undefined; sessionId: string | undefined }

const keyHeaders = ['x-agentops-api-key', 'x-agentops-auth']
const sessionToken = /^(.*)\.([0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12})$/i

/** Finds out for whom an AgentOps SDK speaks, by its key or by a token that it was given here. */
export function agentOpsCaller(header: HeaderReader, scope: Scope, services: Services): AgentOpsCaller {
  const bearer = /^bearer (.*)$/i.exec(header('authorization') ?? '')?.[1]?.trim()
  const token = bearer === undefined ? undefined : readSessionToken(bearer)
  const key = keyHeaders.map(header).find((value) => value !== undefined && value !== '')
  const secret = (token === undefined ? bearer : token.secret) ?? key
  // A token of another server may come along with a key of ours.
  const withKey: HeaderReader = (name) => (name === 'x-api-key' ? (header(name) ?? key) : header(name))
  return {
    project: projectOfKey(secret, { header: withKey, scope }, services),
    key: key ?? secret,
    sessionId: agentOpsSessionId(token?.sessionId),
  }
}

/** The project that a key is for: the only way from an AgentOps key to one, as for any other request. */
export function projectOfKey(
  key: string | undefined,
  { header, scope }: { header: HeaderReader; scope: Scope },
  services: Services,
): string {
  const caller = identifyKey((name) => (name === 'authorization' ? bearerOf(key) : header(name)), services)
  return authorize(caller, scope, header('x-playhead-project') || undefined, services.registry)
}

function identifyKey(header: HeaderReader, services: Services): Caller {
  try {
    return identify(header, services)
  } catch (error) {
    if (!(error instanceof KnownError) || error.code !== 'UNAUTHORIZED') throw error
    throw new KnownError(
      'UNAUTHORIZED',
      'AGENTOPS_API_KEY is not a key of this server, or was revoked. Make one with: playhead keys create --uuid',
    )
  }
}

/**
 * The token of a session carries its key, so that it needs no secret of the server's own, is as good on every node, ends
 * when the key is revoked and not before: SDKs never ask for a second one.
 */
export function writeSessionToken(key: string | undefined, sessionId: string): string {
  return `${key ?? ''}.${sessionId}`
}

function readSessionToken(token: string): { secret: string | undefined; sessionId: string } | undefined {
  const match = sessionToken.exec(token)
  return match === null ? undefined : { secret: match[1] || undefined, sessionId: match[2]! }
}

function bearerOf(key: string | undefined): string | undefined {
  return key === undefined ? undefined : `Bearer ${key}`
}
