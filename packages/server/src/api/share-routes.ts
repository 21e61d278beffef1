import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi'
import { shortSessionId } from '@playhead/model'
import { originOf, type Site } from '../access/addresses.ts'
import type { Gate } from '../access/caller.ts'
import { callerAddress, callerOf, describeCaller, projectOf, recordAudit } from '../access/request-project.ts'
import type { SessionReader } from '../sessions/session-reader.ts'
import { acceptsBody, jsonRoute, projectParameter } from './route-parts.ts'
import { DAY_MS, SHARE_LASTS_DAYS } from './schemas/shares.ts'

const createShareRoute = createRoute({
  ...jsonRoute('POST /api/sessions/{id}/shares', 'The link'),
  summary: 'Create a link that shows this session, read-only, to people without a login',
  request: {
    params: z.object({ id: z.string() }),
    query: z.object(projectParameter),
    ...acceptsBody('POST /api/sessions/{id}/shares'),
  },
})

const listRoute = createRoute({
  ...jsonRoute('GET /api/shares', 'The links, newest first'),
  summary: 'The share links of the project or of one session, without their tokens',
  request: {
    query: z.object({ ...projectParameter, session: z.string().max(64).optional().describe('a session id') }),
  },
})

const revokeRoute = createRoute({
  ...jsonRoute('DELETE /api/shares/{id}', 'The revoked link'),
  summary: 'Revoke a share link; it stops working immediately',
  request: { params: z.object({ id: z.string() }), query: z.object(projectParameter) },
})

/** Creates, lists and revokes share links. */
export function addShareRoutes(
  app: OpenAPIHono,
  { gate, site, reader }: { gate: Gate; site: Site; reader: SessionReader },
): void {
  const { shares } = gate
  app.openapi(createShareRoute, async (context) => {
    const project = projectOf(context, 'edit', gate)
    const { id: sessionId } = await reader.readSummary(project, context.req.valid('param').id)
    const { hasContent, expiresAt = new Date(Date.now() + SHARE_LASTS_DAYS * DAY_MS).toISOString() } =
      context.req.valid('json')
    const { name } = describeCaller(callerOf(context, gate), callerAddress(context))
    const { share, token } = await shares.create({
      project,
      sessionId,
      hasContent,
      expiresAt,
      createdBy: name,
    })
    const detail = `link ${share.id}; expires ${expiresAt}; ${hasContent ? 'with' : 'without'} content`
    await recordAudit(context, gate, { action: 'share.created', project, subject: sessionId, detail })
    // Browsers send no fragment, so the token is in no log and no Referer.
    const url = `${originOf(context.req.url, site)}/shared/${share.id}#${token}`
    return context.json({ share, url }, 200)
  })
  app.openapi(listRoute, async (context) => {
    const project = projectOf(context, 'edit', gate)
    const { session } = context.req.valid('query')
    const sessionId = session === undefined ? undefined : (await reader.readSummary(project, session)).id
    const found = shares.list(project, sessionId)
    const subject = sessionId === undefined ? '' : shortSessionId(sessionId)
    await recordAudit(context, gate, { action: 'share.listed', project, subject })
    return context.json({ shares: found }, 200)
  })
  app.openapi(revokeRoute, async (context) => {
    const project = projectOf(context, 'edit', gate)
    const share = await shares.revoke(project, context.req.valid('param').id)
    const detail = `link ${share.id}`
    await recordAudit(context, gate, { action: 'share.revoked', project, subject: share.sessionId, detail })
    return context.json(share, 200)
  })
}
