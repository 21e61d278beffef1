import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi'
import type { ClickHouseClient } from '@clickhouse/client'
import { isForServer, type Gate } from '../access/caller.ts'
import { callerOf, projectOf, recordAudit, requirePerson } from '../access/request-project.ts'
import { KnownError } from '../errors/known-error.ts'
import { readAudit } from '../query/read-audit.ts'
import { jsonRoute, projectParameter } from './route-parts.ts'

const auditRoute = createRoute({
  ...jsonRoute('GET /api/audit', 'The entries, newest first'),
  summary: 'Who did what: logins, keys, deletions, settings, backups. A key sees only its own project',
  request: {
    query: z.object({
      ...projectParameter,
      project: projectParameter.project.describe('project id; empty: everything the caller may see'),
      action: z
        .string()
        .max(40)
        .optional()
        .describe('an action, or a group of them: login, key, project, sessions, share, issue, backup'),
      text: z
        .string()
        .max(200)
        .optional()
        .describe('a part of the action, caller, address, subject or detail'),
      from: z.iso.datetime({ offset: true }).optional(),
      to: z.iso.datetime({ offset: true }).optional(),
      limit: z.coerce.number().int().min(1).max(1_000).default(50),
      cursor: z
        .string()
        .regex(/^\d{1,15}_[0-9a-f-]{36}$/, 'must be the nextCursor of the previous page')
        .optional()
        .describe('`nextCursor` of the previous page'),
    }),
  },
})

const loginsRoute = createRoute({
  ...jsonRoute('GET /api/logins', 'The logins'),
  summary: 'Where people are logged in',
})

const endLoginRoute = createRoute({
  ...jsonRoute('DELETE /api/logins/{id}', 'Ended'),
  summary: 'End a login; its cookie stops working immediately',
  request: { params: z.object({ id: z.string() }) },
})

const endOthersRoute = createRoute({
  ...jsonRoute('POST /api/logins/end-others', 'How many ended'),
  summary: 'End every login except the one of this request',
})

/** The audit log, and the logins of people. */
export function addAuditRoutes(
  app: OpenAPIHono,
  { gate, client }: { gate: Gate; client: ClickHouseClient },
): void {
  app.openapi(auditRoute, async (context) => {
    const { project: asked, ...filter } = context.req.valid('query')
    const isOfProject = Boolean(asked) || !isForServer(callerOf(context, gate))
    const project = isOfProject ? projectOf(context, 'admin', gate) : undefined
    return context.json(await readAudit(client, { ...filter, project }), 200)
  })
  app.openapi(loginsRoute, (context) => {
    const caller = requirePerson(context, gate)
    const currentId = caller.kind === 'person' ? caller.login.id : undefined
    return context.json({ logins: gate.logins?.list(currentId) ?? [] }, 200)
  })
  app.openapi(endLoginRoute, async (context) => {
    requirePerson(context, gate)
    const ended = await loginsOf(gate).end(context.req.valid('param').id)
    await recordAudit(context, gate, { action: 'login.ended', project: null, subject: ended.device })
    return context.json({ ok: true as const }, 200)
  })
  app.openapi(endOthersRoute, async (context) => {
    const caller = requirePerson(context, gate)
    const ended = await loginsOf(gate).endOthers(caller.kind === 'person' ? caller.login.id : undefined)
    const subject = ended.map(({ device }) => device).join(', ')
    const detail = `${ended.length} other ${ended.length === 1 ? 'login' : 'logins'}`
    await recordAudit(context, gate, { action: 'login.ended', project: null, subject, detail })
    return context.json({ ended: ended.length }, 200)
  })
}

function loginsOf({ logins }: Gate) {
  if (logins !== undefined) return logins
  throw new KnownError('BAD_REQUEST', 'Auth is off on this server: there are no logins.')
}
