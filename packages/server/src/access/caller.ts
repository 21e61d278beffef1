import type { Person, Scope } from '../api/schemas/settings.ts'
import { errorStatus, KnownError } from '../errors/known-error.ts'
import type { StoredShare } from '../store/shares-table.ts'
import type { AuditLog } from './audit.ts'
import type { DailyUsage } from './daily-usage.ts'
import type { OidcProvider } from './oidc.ts'
import type { People } from './people.ts'
import { checkRole, isServerAdmin, scopeFor, type Permission } from './roles.ts'
import type { LastUses } from './last-uses.ts'
import type { Logins } from './logins.ts'
import { SHARE_PREFIX, type Shares } from './shares.ts'
import { DEFAULT_PROJECT, type RegisteredKey, type Registry } from './registry.ts'

export const LOGIN_COOKIE = 'playhead_login'

/** Who sent a request. A key acts for one project, with its scopes; a person, or anyone while auth is off, for all. */
export type Caller =
  | { kind: 'anyone' }
  | { kind: 'person'; login: { id: string; device: string }; person?: Person }
  | { kind: 'key'; key: RegisteredKey }

/** What callers are checked against, and where it is written down. */
export type Gate = {
  isAuthOn: boolean
  registry: Registry
  /** Undefined without a password. */
  logins: Logins | undefined
  /** Who logged in with OpenID Connect; undefined without it. */
  people: People | undefined
  oidc: OidcProvider | undefined
  /** Links that show one session without a login. */
  shares: Shares
  uses: LastUses
  /** What each project sent today. */
  usage: DailyUsage
  audit: AuditLog
}

export type HeaderReader = (name: string) => string | undefined

/** Identifies the caller by key or login cookie. Throws if auth is on and neither is valid. */
export function identify(header: HeaderReader, gate: Gate, address = ''): Caller {
  refuseShareToken(header)
  const secrets = presentedSecrets(header)
  const known = secrets.map((secret) => gate.registry.findKey(secret)).filter((key) => key !== undefined)
  const key = known.find(isUsable)
  if (key !== undefined) {
    gate.uses.note(key.id)
    return { kind: 'key', key }
  }
  if (!gate.isAuthOn) return { kind: 'anyone' }
  const cookie = readCookie(header('cookie'), LOGIN_COOKIE)
  const login = cookie === undefined ? undefined : gate.logins?.find(cookie)
  const person = login === undefined ? undefined : personOf(login, gate)
  if (person !== undefined) return person
  if (known[0] !== undefined) throw refuseKey(known[0], gate, address)
  if (secrets.length > 0) {
    throw new KnownError(
      'UNAUTHORIZED',
      'This key is unknown or revoked. Create one with: playhead keys create',
    )
  }
  throw new KnownError(
    'UNAUTHORIZED',
    'This server needs a key: send it as "Authorization: Bearer ph_…" (SDK: PLAYHEAD_API_KEY), or log in on the page.',
  )
}

/** The token of a share link opens the page of that link, and nothing else. */
export function refuseShareToken(header: HeaderReader): void {
  if (presentedSecrets(header).some((secret) => secret.startsWith(SHARE_PREFIX)))
    throw new KnownError(
      'FORBIDDEN',
      'A share link opens one session and nothing else. Use a key, or log in.',
    )
}

/** The share link that a request was sent with. Throws unless it works. */
export function shareOf(header: HeaderReader, { shares }: Gate): StoredShare {
  const authorization = header('authorization') ?? ''
  const token = /^bearer /i.test(authorization) ? authorization.slice(7).trim() : ''
  return shares.admit(token)
}

/** Undefined if the person may no longer log in. Whoever knows the password may do everything. */
function personOf(
  login: { id: string; device: string; personId: string },
  { people }: Gate,
): Caller | undefined {
  if (login.personId === '') return { kind: 'person', login }
  const person = people?.find(login.personId)
  return person === undefined ? undefined : { kind: 'person', login, person }
}

function isUsable({ revokedAt, expiresAt }: RegisteredKey): boolean {
  return revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > Date.now())
}

/** Someone still uses a key that no longer works. */
function refuseKey(key: RegisteredKey, { audit }: Gate, address: string): KnownError {
  const { id, name, project, revokedAt, expiresAt } = key
  const isRevoked = revokedAt !== null
  audit.recordRepeatable({
    action: 'key.refused',
    project,
    caller: { kind: 'key', id, name, address },
    subject: name,
    detail: isRevoked ? `revoked ${revokedAt}` : `expired ${expiresAt}`,
  })
  return isRevoked
    ? new KnownError('UNAUTHORIZED', 'This key is unknown or revoked. Create one with: playhead keys create')
    : new KnownError(
        'KEY_EXPIRED',
        `The key "${name}" expired on ${expiresAt?.slice(0, 10)}. Create a new one with: playhead keys create`,
      )
}

/**
 * The one place where a request gets its project: everything that reads or writes sessions goes through here. A key never
 * gets a project other than its own, whatever the request asks for.
 */
export function authorize(
  caller: Caller,
  permission: Permission,
  requested: string | undefined,
  registry: Registry,
): string {
  if (caller.kind === 'key') {
    const { key } = caller
    const scope = scopeFor(permission)
    if (requested !== undefined && requested !== key.project) {
      throw new KnownError(
        'FORBIDDEN',
        `This key is for project "${key.project}", not "${requested.slice(0, 63)}".`,
      )
    }
    if (!key.scopes.includes(scope) && !key.scopes.includes('admin')) {
      throw new KnownError(
        'FORBIDDEN',
        `This key has the scopes ${key.scopes.join(', ')}; this request needs "${scope}".`,
      )
    }
    return key.project
  }
  const project = requested ?? DEFAULT_PROJECT
  if (caller.kind === 'person' && caller.person !== undefined)
    checkRole(caller.person.roles, permission, project)
  if (registry.project(project) === undefined) {
    const known = registry.projects().map(({ id }) => id)
    throw new KnownError(
      'NOT_FOUND',
      `There is no project "${project.slice(0, 63)}". Projects: ${known.join(', ')}.`,
    )
  }
  return project
}

/** The project of a request that names one only in its headers. */
export function projectOfHeaders(header: HeaderReader, scope: Scope, gate: Gate, address?: string): string {
  return authorize(
    identify(header, gate, address),
    scope,
    header('x-playhead-project') || undefined,
    gate.registry,
  )
}

/** The project that a request sends spans to. Throws if the project has used up its quota. */
export function projectToSendTo(header: HeaderReader, scope: Scope, gate: Gate, address?: string): string {
  const project = projectOfHeaders(header, scope, gate, address)
  checkQuota(project, gate)
  return project
}

export function checkQuota(project: string, { registry, usage }: Gate): void {
  const found = registry.project(project)
  if (found !== undefined) usage.check(found)
}

/** Refuses keys, which are for one project, where a request concerns the whole server (projects, backups). */
export function requireLogin(header: HeaderReader, gate: Gate): Caller {
  const caller = identifyForServer(header, gate)
  if (caller.kind === 'key') throw new KnownError('FORBIDDEN', `A key is for one project. ${HOW_TO_LOG_IN}`)
  if (!isForServer(caller))
    throw new KnownError('FORBIDDEN', 'This concerns the whole server: it needs an admin of all projects.')
  return caller
}

/** Whether the caller may see and change what concerns the whole server. */
export function isForServer(caller: Caller): boolean {
  if (caller.kind === 'key') return false
  return caller.kind === 'anyone' || caller.person === undefined || isServerAdmin(caller.person.roles)
}

const HOW_TO_LOG_IN =
  'This needs a login: log in on the page, or post the password to /api/login and send the cookie from the response (CLI: PLAYHEAD_PASSWORD).'

/** Asks for a login instead of a key, which would not help here. */
function identifyForServer(header: HeaderReader, gate: Gate): Caller {
  try {
    return identify(header, gate)
  } catch (error) {
    if (!isUnauthorized(error)) throw error
    throw new KnownError('UNAUTHORIZED', HOW_TO_LOG_IN, { cause: error })
  }
}

/** Whether the caller is not known, as opposed to not allowed. */
export function isUnauthorized(error: unknown): boolean {
  return error instanceof KnownError && errorStatus[error.code] === 401
}

/** SDKs send keys in many headers. Basic carries one as the password or, from some SDKs, as the user. */
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
