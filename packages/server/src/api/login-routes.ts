import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { deleteCookie } from 'hono/cookie'
import { isUnauthorized, LOGIN_COOKIE, type Caller, type Gate } from '../access/caller.ts'
import { networkOf } from '../access/client-address.ts'
import { LoginLimiter } from '../access/login-limiter.ts'
import { claimLoginSecret } from '../access/login-links.ts'
import { describeDevice, LOGIN_LASTS_MS } from '../access/logins.ts'
import { callerAddress, callerOf, recordAudit } from '../access/request-project.ts'
import { KnownError } from '../errors/known-error.ts'
import { jsonRoute, acceptsBody } from './route-parts.ts'
import { startLogin, type LoginServices } from './start-login.ts'
import type { Person } from './schemas/settings.ts'
import { VERSION } from './version.ts'

const loginRoute = createRoute({
  ...jsonRoute('POST /api/login', 'Logged in'),
  summary: 'Log in with the password; the response sets a cookie',
  request: acceptsBody('POST /api/login'),
})

const logoutRoute = createRoute({
  ...jsonRoute('POST /api/logout', 'Logged out'),
  summary: 'Log out: the cookie no longer works, wherever it was copied to',
})

const whoRoute = createRoute({
  ...jsonRoute('GET /api/me', 'The caller'),
  summary: 'Who the caller is, and whether auth is on',
})

export function addLoginRoutes(app: OpenAPIHono, services: LoginServices): void {
  const { gate } = services
  const limiter = new LoginLimiter()
  addLinkRoute(app, services)
  app.openapi(loginRoute, async (context) => {
    const { logins, audit } = gate
    if (logins === undefined)
      throw new KnownError('BAD_REQUEST', 'Auth is off on this server: no login is needed.')
    const { password, lastsSeconds } = context.req.valid('json')
    const [address, device] = [callerAddress(context), describeDevice(context.req.header('user-agent'))]
    const network = networkOf(address)
    limiter.check(network, performance.now())
    if (!logins.cookies.isPassword(password)) {
      limiter.noteFailure(network, performance.now())
      const caller = { kind: 'anyone', id: '', name: device, address } as const
      audit.recordRepeatable({ action: 'login.failed', project: null, caller })
      throw new KnownError(
        'UNAUTHORIZED',
        'Wrong password. The password is the value of PLAYHEAD_PASSWORD when the server started.',
      )
    }
    limiter.noteSuccess(network)
    const lastsMs = lastsSeconds === undefined ? LOGIN_LASTS_MS : lastsSeconds * 1_000
    await startLogin(context, services, { action: 'login.started', lastsMs })
    return context.json({ ok: true as const }, 200)
  })
  app.openapi(logoutRoute, async (context) => {
    const caller = knownCaller(context, gate)
    if (caller?.kind === 'person') {
      await recordAudit(context, gate, { action: 'login.ended', project: null, subject: caller.login.device })
      await gate.logins?.end(caller.login.id)
    }
    deleteCookie(context, LOGIN_COOKIE, { path: '/' })
    return context.json({ ok: true as const }, 200)
  })
  app.openapi(whoRoute, (context) => {
    const { isAuthOn } = gate
    const hasOidc = gate.oidc !== undefined
    const caller = knownCaller(context, gate)
    if (caller === undefined) return context.json({ kind: 'nobody' as const, isAuthOn, hasOidc }, 200)
    return context.json(
      {
        kind: caller.kind,
        isAuthOn,
        hasOidc,
        version: VERSION,
        ...(caller.kind === 'person' && describePerson(caller.person)),
        ...(caller.kind === 'key' && { project: caller.key.project, scopes: caller.key.scopes }),
      },
      200,
    )
  })
}

function describePerson(person: Person | undefined) {
  if (person === undefined) return {}
  const { id, name, email, roles } = person
  return { person: { id, name, email, roles } }
}

/** The owner's way in: it passes every limit, because only who can write to the data folder can make a link. */
function addLinkRoute(app: OpenAPIHono, services: LoginServices): void {
  app.get('/api/login/:secret', async (context) => {
    context.header('cache-control', 'no-store')
    context.header('referrer-policy', 'no-referrer')
    if (services.gate.logins === undefined) return context.redirect('/')
    if (!(await claimLoginSecret(services.dataDirectory, context.req.param('secret'))))
      return context.text(
        'This link was used already, or is older than 10 minutes. Get a new one with: playhead login-link\n',
        401,
      )
    await startLogin(context, services, { action: 'login.recovery-link', lastsMs: LOGIN_LASTS_MS })
    return context.redirect('/')
  })
}

function knownCaller(context: Context, gate: Gate): Caller | undefined {
  try {
    return callerOf(context, gate)
  } catch (error) {
    if (isUnauthorized(error)) return undefined
    throw error
  }
}
