import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { timingSafeEqual } from 'node:crypto'
import { originOf } from '../access/addresses.ts'
import { LOGIN_LASTS_MS } from '../access/logins.ts'
import { PENDING_SECONDS, type PendingLogin } from '../access/oidc.ts'
import { KnownError } from '../errors/known-error.ts'
import { isSecure, startLogin, type LoginServices } from './start-login.ts'

/** Not `SameSite=Strict`, as the login cookie is: the browser comes back from another site. */
const PENDING_COOKIE = 'playhead_oidc'
const CALLBACK = '/api/login/oidc/callback'

/** Logs people in at the provider. Pages, not an API: they only redirect, so that OpenAPI has nothing to say about them. */
export function addOidcRoutes(app: OpenAPIHono, services: LoginServices): void {
  const { gate, site } = services
  app.get('/api/login/oidc', async (context) => {
    const { provider } = oidcOf(services)
    const { url, pending } = await provider.begin(
      `${originOf(context.req.url, site)}${CALLBACK}`,
      pathBack(context.req.query('back')),
    )
    const text = Buffer.from(JSON.stringify(pending)).toString('base64url')
    setCookie(context, PENDING_COOKIE, `${text}.${gate.logins!.cookies.sign('oidc', text)}`, {
      httpOnly: true,
      sameSite: 'Lax',
      secure: isSecure(site),
      path: CALLBACK,
      maxAge: PENDING_SECONDS,
    })
    context.header('cache-control', 'no-store')
    return context.redirect(url.href)
  })
  app.get(CALLBACK, async (context) => {
    const { provider, people } = oidcOf(services)
    const pending = readPending(context, services)
    deleteCookie(context, PENDING_COOKIE, { path: CALLBACK })
    context.header('cache-control', 'no-store')
    const { search } = new URL(context.req.url)
    const address = new URL(`${originOf(context.req.url, site)}${CALLBACK}${search}`)
    const person = await people.welcome(await provider.finish(address, pending))
    await startLogin(context, services, { action: 'login.oidc', lastsMs: LOGIN_LASTS_MS, person })
    return context.redirect(pending.back)
  })
}

function oidcOf({ gate: { oidc: provider, people } }: LoginServices) {
  if (provider === undefined || people === undefined)
    throw new KnownError(
      'NOT_FOUND',
      'This server has no login provider. Set PLAYHEAD_OIDC_ISSUER to use one.',
    )
  return { provider, people }
}

function readPending(context: Context, { gate }: LoginServices): PendingLogin {
  const [text = '', signature = ''] = (getCookie(context, PENDING_COOKIE) ?? '').split('.')
  const [given, right] = [Buffer.from(signature), Buffer.from(gate.logins!.cookies.sign('oidc', text))]
  if (given.length !== right.length || !timingSafeEqual(given, right))
    throw new KnownError(
      'UNAUTHORIZED',
      'This login was not started in this browser, or it took longer than 10 minutes. Start again on the login page.',
    )
  return JSON.parse(Buffer.from(text, 'base64url').toString()) as PendingLogin
}

/** Always a page of this server, whatever the address says. */
function pathBack(back: string | undefined): string {
  const isOurs = back !== undefined && /^\/(?![/\\])/.test(back) && back.length <= 1_000
  return isOurs ? back : '/'
}
