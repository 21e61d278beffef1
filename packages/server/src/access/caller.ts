import type { Config } from '../process/config.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Key, Scope } from '../api/schemas/settings.ts'
import { DEFAULT_PROJECT, type Registry } from './registry.ts'
import type { LoginCookies } from './secrets.ts'

export const LOGIN_COOKIE = 'playhead_login'

/** Who asks. A key speaks for one project, with its scopes; a person, or anyone while auth is off, for all of them. */
export type Caller = { kind: 'anyone' } | { kind: 'person' } | { kind: 'key'; key: Key }

export type Gate = { config: Pick<Config, 'isAuthOn'>; registry: Registry; cookies: LoginCookies | undefined }

export type HeaderReader = (name: string) => string | undefined

/** Finds out who asks, or refuses. */
export function identify(header: HeaderReader, gate: Gate): Caller {
  const secrets = presentedSecrets(header)
  for (const secret of secrets) {
    const key = gate.registry.findKey(secret)
    if (key !== undefined) return { kind: 'key', key }
  }
  if (!gate.config.isAuthOn) return { kind: 'anyone' }
  const cookie = readCookie(header('cookie'), LOGIN_COOKIE)
  if (cookie !== undefined && gate.cookies?.isValid(cookie, Date.now()) === true) return { kind: 'person' }
  if (secrets.length > 0) {
    throw new KnownError(
      'UNAUTHORIZED',
      'This key is not known here, or it was revoked. Make one with: playhead keys create',
    )
  }
  throw new KnownError(
    'UNAUTHORIZED',
    'This server needs a key: send it as "Authorization: Bearer ph_…" (SDK: PLAYHEAD_API_KEY), or log in on the page.',
  )
}

/**
 * The one place where a request gets its project: everything that reads or writes sessions takes it from here. A key
 * never gets another project than its own, whatever the request asks for.
 */
export function authorize(
  caller: Caller,
  scope: Scope,
  requested: string | undefined,
  registry: Registry,
): string {
  if (caller.kind === 'key') {
    const { key } = caller
    if (requested !== undefined && requested !== key.project) {
      throw new KnownError(
        'FORBIDDEN',
        `This key is for project "${key.project}", not for "${requested.slice(0, 63)}".`,
      )
    }
    if (!key.scopes.includes(scope) && !key.scopes.includes('admin')) {
      throw new KnownError(
        'FORBIDDEN',
        `This key may ${key.scopes.join(' and ')}; this request needs the scope "${scope}".`,
      )
    }
    return key.project
  }
  const project = requested ?? DEFAULT_PROJECT
  if (registry.project(project) === undefined) {
    throw new KnownError(
      'NOT_FOUND',
      `There is no project "${project.slice(0, 63)}". Projects: ${registry
        .projects()
        .map(({ id }) => id)
        .join(', ')}.`,
    )
  }
  return project
}

/** What concerns the server and not one project (projects themselves, backups) is not for a project's key. */
export function requireLogin(header: HeaderReader, gate: Gate): void {
  if (identifyForServer(header, gate).kind === 'key')
    throw new KnownError('FORBIDDEN', `A key is for one project. ${HOW_TO_LOG_IN}`)
}

const HOW_TO_LOG_IN =
  'This needs a login: log in on the page, or post the password to /api/login and send the cookie of the answer (CLI: PLAYHEAD_PASSWORD).'

/** Whoever is refused here is told of the login: a key would not help. */
function identifyForServer(header: HeaderReader, gate: Gate): Caller {
  try {
    return identify(header, gate)
  } catch (error) {
    if (!(error instanceof KnownError) || error.code !== 'UNAUTHORIZED') throw error
    throw new KnownError('UNAUTHORIZED', HOW_TO_LOG_IN, { cause: error })
  }
}

/** SDKs put keys in many places; Basic carries one as the password (or, from some, as the user). */
function presentedSecrets(header: HeaderReader): string[] {
  const secrets = ['x-api-key', 'x-playhead-key', 'api_key', 'api-key'].map(header)
  const authorization = header('authorization') ?? ''
  if (/^bearer /i.test(authorization)) secrets.push(authorization.slice(7).trim())
  if (/^basic /i.test(authorization)) {
    const pair = Buffer.from(authorization.slice(6), 'base64').toString()
    const colon = pair.indexOf(':')
    secrets.push(pair.slice(colon + 1), pair.slice(0, Math.max(colon, 0)))
  }
  return secrets.filter((secret): secret is string => secret !== undefined && secret !== '')
}

function readCookie(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const equals = pair.indexOf('=')
    if (pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim()
  }
  return undefined
}
