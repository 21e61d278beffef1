import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { shareOf, type Gate } from '../access/caller.ts'
import type { ShareState } from '../access/shares.ts'
import { callerAddress } from '../access/request-project.ts'
import { KnownError } from '../errors/known-error.ts'
import type { SessionFindings } from '../findings/session-findings.ts'
import { shortenSession } from '../sessions/long-session.ts'
import type { SessionReader } from '../sessions/session-reader.ts'
import { stepWithoutContent, withoutContent } from '../sessions/without-content.ts'
import type { StoredShare } from '../store/shares-table.ts'
import { jsonRoute, sessionParameters, someStepsParameters } from './route-parts.ts'
import { respondWithSession, respondWithSteps } from './session-response.ts'

const WITH_TOKEN = 'Send the part of a share link behind # as "Authorization: Bearer phs_…"'

const sessionRoute = createRoute({
  ...jsonRoute('GET /api/shared/session', 'The session'),
  summary: 'The session of a share link, with its steps',
  description: WITH_TOKEN,
  request: { query: z.object(sessionParameters) },
})

const stepsRoute = createRoute({
  ...jsonRoute('GET /api/shared/session/steps', 'The steps'),
  summary: 'Some steps of the session of a share link without payloads and log records',
  description: WITH_TOKEN,
  request: { query: z.object(someStepsParameters) },
})

const stepRoute = createRoute({
  ...jsonRoute('GET /api/shared/session/steps/{stepId}', 'The step'),
  summary: 'One step of the session of a share link, with its payload',
  description: WITH_TOKEN,
  request: { params: z.object({ stepId: z.string() }) },
})

const findingsRoute = createRoute({
  ...jsonRoute('GET /api/shared/session/findings', 'What went wrong'),
  summary:
    'What went wrong in the session of a share link; empty if its content is left out, which findings quote',
  description: WITH_TOKEN,
})

type SharedServices = { gate: Gate; reader: SessionReader; findings: SessionFindings }

/** What somebody with a share link can read: one session, and nothing else. */
export function addSharedRoutes(app: OpenAPIHono, services: SharedServices): void {
  const { gate, reader, findings } = services
  const read = async <Value>(
    context: Context,
    isOpening: boolean,
    readOf: (share: StoredShare) => Promise<Value>,
  ): Promise<Value> => {
    const share = shareOf((name) => context.req.header(name), gate)
    const value = await readOf(share).catch(describeGone)
    const visitor = `${callerAddress(context)} ${context.req.header('user-agent') ?? ''}`
    gate.shares.noteUse(share.id, visitor, isOpening)
    return value
  }
  keepPrivate(app)
  addPage(app, gate)
  app.openapi(sessionRoute, async (context) => {
    const { payloads, long } = context.req.valid('query')
    // All payloads are loaded for a search, by a page that was opened already.
    const body = await read(
      context,
      payloads !== 'all',
      async ({ project, sessionId, expiresAt, hasContent }) => {
        const share = { expiresAt, hasContent }
        const isShortened = payloads === 'first-screen' && long === 'skeleton'
        if (hasContent && isShortened) return { ...(await reader.openSession(project, sessionId)), share }
        const whole = await reader.readSession(project, sessionId, hasContent ? payloads : 'none')
        const shown = hasContent ? whole : withoutContent(whole)
        return { ...(isShortened ? shortenSession(shown, { hasContent }) : shown), share }
      },
    )
    return respondWithSession(context, body)
  })
  app.openapi(stepsRoute, async (context) => {
    const { ids } = context.req.valid('query')
    const steps = await read(context, false, async ({ project, sessionId, hasContent }) => {
      const whole = await reader.readOutlines(project, sessionId, ids)
      return hasContent ? whole : whole.map(stepWithoutContent)
    })
    return respondWithSteps(context, { steps })
  })
  app.openapi(stepRoute, async (context) => {
    const { stepId } = context.req.valid('param')
    const step = await read(context, false, async ({ project, sessionId, hasContent }) => {
      const whole = await reader.readStep(project, sessionId, stepId)
      return hasContent ? whole : stepWithoutContent(whole)
    })
    return respondWithSteps(context, step)
  })
  app.openapi(findingsRoute, async (context) => {
    const found = await read(context, false, async ({ project, sessionId, hasContent }) =>
      hasContent ? findings.read(project, sessionId) : { findings: [], suspects: [] },
    )
    return context.json(found, 200)
  })
}

/** Nothing of a link is cached, indexed, or named to other sites. */
function keepPrivate(app: OpenAPIHono): void {
  const addHeaders = async (context: Context, next: () => Promise<void>) => {
    await next()
    context.res.headers.set('cache-control', 'no-store')
    context.res.headers.set('referrer-policy', 'no-referrer')
    context.res.headers.set('x-robots-tag', 'noindex, nofollow')
    context.res.headers.set('x-content-type-options', 'nosniff')
  }
  app.use('/shared/*', addHeaders)
  app.use('/api/shared/*', addHeaders)
}

/** The page of a link that works is one of the dashboard; otherwise it says why it does not. */
function addPage(app: OpenAPIHono, { shares }: Gate): void {
  app.get('/shared/:id', async (context, next) => {
    const state = shares.stateOf(context.req.param('id'))
    if (state === 'open') return next()
    context.header(
      'content-security-policy',
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    )
    return context.html(endedSharePage(state), state === undefined ? 404 : 410)
  })
}

function describeGone(error: unknown): never {
  if (error instanceof KnownError && error.code === 'SESSION_NOT_FOUND')
    throw new KnownError('SHARE_GONE', 'The session of this link was deleted.', { cause: error })
  throw error
}

const endedTexts: Record<Exclude<ShareState, 'open'> | 'unknown', { title: string; text: string }> = {
  expired: {
    title: 'This link has expired',
    text: 'It showed one session for a limited time, and that time is over. Ask whoever sent it to you for a new one.',
  },
  revoked: {
    title: 'This link was revoked',
    text: 'Whoever shared the session has withdrawn the link. Ask them for a new one if you still need it.',
  },
  unknown: {
    title: 'There is no such link',
    text: 'The address may be cut off or mistyped. Check it, or ask whoever sent it to you for a new one.',
  },
}

/** What people see who open a share link that does not work. It needs no script, and leads nowhere. */
function endedSharePage(state: Exclude<ShareState, 'open'> | undefined): string {
  const { title, text } = endedTexts[state ?? 'unknown']
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${title} · Playhead</title>
<style>
  body { font: 16px/1.6 system-ui, sans-serif; max-width: 34rem; margin: 18vh auto; padding: 0 1.5rem; }
  h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .75rem; }
  p { margin: 0; opacity: .8; }
  small { display: block; margin-top: 2.5rem; opacity: .6; }
</style>
<main>
<h1>${title}</h1>
<p>${text}</p>
<small>Playhead</small>
</main>
</html>
`
}
