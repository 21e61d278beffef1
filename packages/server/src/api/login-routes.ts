import { createRoute, type OpenAPIHono } from '@hono/zod-openapi'
import { setCookie, deleteCookie } from 'hono/cookie'
import type { Site } from '../access/addresses.ts'
import { LOGIN_COOKIE, type Gate } from '../access/caller.ts'
import { callerOf } from '../access/request-project.ts'
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
  summary: 'Log out of this browser',
})

const whoRoute = createRoute({
  ...jsonRoute('GET /api/me', 'The caller'),
  summary: 'Who the caller is, and whether auth is on',
})

const LOGIN_LASTS_MS = 30 * 86_400_000

export function addLoginRoutes(app: OpenAPIHono, { gate, site }: { gate: Gate; site: Site }): void {
  const limiter = new LoginLimiter()
  app.openapi(loginRoute, (context) => {
    const { cookies } = gate
    if (cookies === undefined)
      throw new KnownError('BAD_REQUEST', 'Auth is off on this server: no login is needed.')
    const now = Date.now()
    limiter.check(now)
    if (!cookies.isPassword(context.req.valid('json').password)) {
      limiter.noteFailure(now)
      throw new KnownError(
        'UNAUTHORIZED',
        'Wrong password. The password is the value of PLAYHEAD_PASSWORD when the server started.',
      )
    }
    setCookie(context, LOGIN_COOKIE, cookies.issue(now + LOGIN_LASTS_MS), {
      httpOnly: true,
      sameSite: 'Strict',
      secure: site.publicUrl?.startsWith('https:') === true,
      path: '/',
      maxAge: LOGIN_LASTS_MS / 1_000,
    })
    return context.json({ ok: true as const }, 200)
  })
  app.openapi(logoutRoute, (context) => {
    deleteCookie(context, LOGIN_COOKIE, { path: '/' })
    return context.json({ ok: true as const }, 200)
  })
  app.openapi(whoRoute, (context) => {
    const { isAuthOn } = gate
    try {
      const caller = callerOf(context, gate)
      return context.json(
        {
          kind: caller.kind,
          isAuthOn,
          version: VERSION,
          ...(caller.kind === 'key' && { project: caller.key.project, scopes: caller.key.scopes }),
        },
        200,
      )
    } catch (error) {
      if (error instanceof KnownError && error.code === 'UNAUTHORIZED')
        return context.json({ kind: 'nobody' as const, isAuthOn }, 200)
      throw error
    }
  })
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
