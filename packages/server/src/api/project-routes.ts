import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi'
import { authorize, type Gate } from '../access/caller.ts'
import { callerOf, projectOf, recordAudit, requirePerson } from '../access/request-project.ts'
import { jsonRoute, acceptsBody } from './route-parts.ts'
import type { Project } from './schemas/settings.ts'

const listRoute = createRoute({
  ...jsonRoute('GET /api/projects', 'The projects'),
  summary: 'The projects that the caller has access to',
})

const createProjectRoute = createRoute({
  ...jsonRoute('POST /api/projects', 'The project'),
  summary: 'Create a project',
  request: acceptsBody('POST /api/projects'),
})

const updateRoute = createRoute({
  ...jsonRoute('PATCH /api/projects/{project}', 'The project'),
  summary: "Change a project's name, retention or prices",
  request: {
    params: z.object({ project: z.string() }),
    ...acceptsBody('PATCH /api/projects/{project}'),
  },
})

export function addProjectRoutes(app: OpenAPIHono, gate: Gate): void {
  const { registry } = gate
  app.openapi(listRoute, (context) => {
    const caller = callerOf(context, gate)
    const all = registry.projects()
    // A project includes its prices, which are none of the business of a key that only sends.
    const own = caller.kind === 'key' ? authorize(caller, 'read', undefined, registry) : undefined
    const projects = own === undefined ? all : all.filter(({ id }) => id === own)
    return context.json({ projects }, 200)
  })
  app.openapi(createProjectRoute, async (context) => {
    requirePerson(context, gate)
    const project = await registry.createProject(context.req.valid('json'))
    await recordAudit(context, gate, {
      action: 'project.created',
      project: project.id,
      subject: project.name,
    })
    return context.json(project, 200)
  })
  app.openapi(updateRoute, async (context) => {
    const project = projectOf(context, 'admin', gate, context.req.valid('param').project)
    const { name, retentionDays, priceOverrides } = context.req.valid('json')
    const change = {
      ...(name !== undefined && { name }),
      ...(retentionDays !== undefined && { retentionDays }),
      ...(priceOverrides !== undefined && { priceOverrides: priceOverrides.map(withoutUndefined) }),
    }
    const updated = await registry.updateProject(project, change)
    const detail = describeChange(change)
    await recordAudit(context, gate, { action: 'project.changed', project, subject: updated.name, detail })
    return context.json(updated, 200)
  })
}

function describeChange({ name, retentionDays, priceOverrides }: Partial<Project>): string {
  const changes = [
    ...(name === undefined ? [] : [`name: ${name}`]),
    ...(retentionDays === undefined
      ? []
      : [`retention: ${retentionDays === null ? 'forever' : `${retentionDays} days`}`]),
    ...(priceOverrides === undefined ? [] : [`prices: ${describePrices(priceOverrides)}`]),
  ]
  return changes.join('; ')
}

function describePrices(prices: Project['priceOverrides']): string {
  if (prices.length === 0) return 'none'
  return prices
    .map(({ model, inputPerMillion, outputPerMillion }) => `${model} ${inputPerMillion}/${outputPerMillion}`)
    .join(', ')
}

function withoutUndefined<Value extends object>(
  value: Value,
): { [Key in keyof Value]: Exclude<Value[Key], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as never
}
