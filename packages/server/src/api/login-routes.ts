import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { setCookie, deleteCookie } from 'hono/cookie'
import type { Site } from '../access/addresses.ts'
import { isUnauthorized, LOGIN_COOKIE, type Caller, type Gate } from '../access/caller.ts'
import { describeDevice, LOGIN_LASTS_MS } from '../access/logins.ts'
import { callerAddress, callerOf, recordAudit } from '../access/request-project.ts'
import { KnownError } from '../errors/known-error.ts'
import { jsonRoute, acceptsBody } from './route-parts.ts'
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

export function addLoginRoutes(app: OpenAPIHono, { gate, site }: { gate: Gate; site: Site }): void {
  const limiter = new LoginLimiter()
  app.openapi(loginRoute, async (context) => {
    const { logins, audit } = gate
    if (logins === undefined)
      throw new KnownError('BAD_REQUEST', 'Auth is off on this server: no login is needed.')
    const now = Date.now()
    limiter.check(now)
    const { password, lastsSeconds } = context.req.valid('json')
    const [address, device] = [callerAddress(context), describeDevice(context.req.header('user-agent'))]
    if (!logins.cookies.isPassword(password)) {
      limiter.noteFailure(now)
      const caller = { kind: 'anyone', id: '', name: device, address } as const
      audit.recordRepeatable({ action: 'login.failed', project: null, caller })
      throw new KnownError(
        'UNAUTHORIZED',
        'Wrong password. The password is the value of PLAYHEAD_PASSWORD when the server started.',
      )
    }
    const lastsMs = lastsSeconds === undefined ? LOGIN_LASTS_MS : lastsSeconds * 1_000
    const { login, cookie } = await logins.start({ address, device, lastsMs })
    const caller = { kind: 'person', id: login.id, name: device, address } as const
    await audit.record({ action: 'login.started', project: null, caller })
    setCookie(context, LOGIN_COOKIE, cookie, {
      httpOnly: true,
      sameSite: 'Strict',
      secure: site.isTlsOn || site.publicUrl?.startsWith('https:') === true,
      path: '/',
      maxAge: lastsMs / 1_000,
    })
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
    const caller = knownCaller(context, gate)
    if (caller === undefined) return context.json({ kind: 'nobody' as const, isAuthOn }, 200)
    return context.json(
      {
        kind: caller.kind,
        isAuthOn,
        version: VERSION,
        ...(caller.kind === 'key' && { project: caller.key.project, scopes: caller.key.scopes }),
      },
      200,
    )
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

const MAX_FAILURES = 10
const WINDOW_MS = 60_000

/** Limits wrong passwords, for all callers together: behind a proxy they share one address anyway. */
class LoginLimiter {
  #failuresAtMs: number[] = []

  check(nowMs: number): void {
    this.#failuresAtMs = this.#failuresAtMs.filter((at) => nowMs - at < WINDOW_MS)
    if (this.#failuresAtMs.length >= MAX_FAILURES) {
      throw new KnownError('TOO_MANY_LOGINS', 'Too many wrong passwords. Wait a minute.', {
        retryAfterSeconds: 60,
      })
    }
  }

  noteFailure(nowMs: number): void {
    this.#failuresAtMs.push(nowMs)
  }
}
