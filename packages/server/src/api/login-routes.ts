import { createRoute } from '@hono/zod-openapi'
import { setCookie, deleteCookie } from 'hono/cookie'
import { LOGIN_COOKIE } from '../access/caller.ts'
import { LoginLimiter } from '../access/login-limiter.ts'
import type { Services } from '../process/services.ts'
import { callerOf, type App } from '../access/request-project.ts'
import { KnownError } from '../errors/known-error.ts'
import { respondsWith, takesBody } from './route-parts.ts'

const loginRoute = createRoute({
  method: 'post',
  path: '/api/login',
  summary: 'Log a person in: the answer sets a cookie',
  request: takesBody('POST /api/login'),
  responses: respondsWith('POST /api/login', 'Logged in'),
})

const logoutRoute = createRoute({
  method: 'post',
  path: '/api/logout',
  summary: 'Forget the login of this browser',
  responses: respondsWith('POST /api/logout', 'Logged out'),
})

const whoRoute = createRoute({
  method: 'get',
  path: '/api/me',
  summary: 'Who asks, and whether a login is needed',
  responses: respondsWith('GET /api/me', 'The caller'),
})

const LOGIN_LASTS_MS = 30 * 86_400_000

export function addLoginRoutes(app: App, services: Services): void {
  const limiter = new LoginLimiter()
  app.openapi(loginRoute, (context) => {
    if (services.cookies === undefined)
      throw new KnownError('BAD_REQUEST', 'Auth is off on this server: there is nothing to log in to.')
    const now = Date.now()
    limiter.check(now)
    if (!services.cookies.isPassword(context.req.valid('json').password)) {
      limiter.noteFailure(now)
      throw new KnownError(
        'UNAUTHORIZED',
        'That is not the password. It is what PLAYHEAD_PASSWORD was set to when the server started.',
      )
    }
    setCookie(context, LOGIN_COOKIE, services.cookies.issue(now + LOGIN_LASTS_MS), {
      httpOnly: true,
      sameSite: 'Strict',
      secure: services.config.publicUrl?.startsWith('https:') === true,
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
    const { isAuthOn } = services.config
    try {
      const caller = callerOf(context, services)
      return context.json(
        { kind: caller.kind, isAuthOn, ...(caller.kind === 'key' && { project: caller.key.project }) },
        200,
      )
    } catch (error) {
      if (error instanceof KnownError && error.code === 'UNAUTHORIZED')
        return context.json({ kind: 'nobody' as const, isAuthOn }, 200)
      throw error
    }
  })
}
