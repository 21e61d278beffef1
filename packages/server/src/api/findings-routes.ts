import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi'
import type { Gate } from '../access/caller.ts'
import { projectOf, recordAudit } from '../access/request-project.ts'
import type { Issues } from '../findings/issues.ts'
import type { SessionFindings } from '../findings/session-findings.ts'
import { acceptsBody, jsonRoute, projectParameter } from './route-parts.ts'
import { issueStates } from './schemas/findings.ts'

const findingsRoute = createRoute({
  ...jsonRoute('GET /api/sessions/{id}/findings', 'What went wrong'),
  summary:
    'What went wrong in a session, from evidence: findings, and up to three suspects. Empty while the session runs',
  request: { params: z.object({ id: z.string() }), query: z.object(projectParameter) },
})

const issuesRoute = createRoute({
  ...jsonRoute('GET /api/issues', 'The issues, the one seen last first'),
  summary: 'Sessions with the same failure, counted as one issue. Re-runs never count',
  request: {
    query: z.object({
      ...projectParameter,
      state: z.enum(issueStates).optional().describe('`open` includes those that were reopened'),
    }),
  },
})

const issueRoute = createRoute({
  ...jsonRoute('GET /api/issues/{id}', 'The issue'),
  summary: 'One issue: by version, and its suspects over all its sessions',
  request: { params: z.object({ id: z.string() }), query: z.object(projectParameter) },
})

const changeRoute = createRoute({
  ...jsonRoute('PATCH /api/issues/{id}', 'The issue'),
  summary:
    'Resolve an issue in a version, ignore it for a number of sessions, open it again, or write a note',
  request: {
    params: z.object({ id: z.string() }),
    query: z.object(projectParameter),
    ...acceptsBody('PATCH /api/issues/{id}'),
  },
})

export type FindingsServices = {
  gate: Gate
  findings: SessionFindings
  issues: Issues
  catchUp: () => Promise<void>
}

export function addFindingsRoutes(
  app: OpenAPIHono,
  { gate, findings, issues, catchUp }: FindingsServices,
): void {
  app.openapi(findingsRoute, async (context) => {
    const project = projectOf(context, 'read', gate)
    return context.json(await findings.read(project, context.req.valid('param').id), 200)
  })
  app.openapi(issuesRoute, async (context) => {
    const project = projectOf(context, 'read', gate)
    const { state } = context.req.valid('query')
    await catchUp()
    const all = await issues.list(project)
    const asked = all.filter(
      (issue) =>
        state === undefined || issue.state === state || (state === 'open' && issue.state === 'reopened'),
    )
    return context.json({ issues: asked, omitted: await issues.countOmitted(project, all.length) }, 200)
  })
  app.openapi(issueRoute, async (context) => {
    const project = projectOf(context, 'read', gate)
    return context.json(await issues.read(project, context.req.valid('param').id), 200)
  })
  app.openapi(changeRoute, async (context) => {
    const project = projectOf(context, 'edit', gate)
    const { id } = context.req.valid('param')
    const change = context.req.valid('json')
    const issue = await issues.change(project, id, change)
    const detail = [
      ...(change.state === undefined ? [] : [change.state]),
      ...(issue.resolvedVersion === undefined ? [] : [`in ${issue.resolvedVersion}`]),
      ...(change.note === undefined ? [] : ['note changed']),
    ].join(' ')
    await recordAudit(context, gate, { action: 'issue.changed', project, subject: id, detail })
    return context.json(issue, 200)
  })
}
