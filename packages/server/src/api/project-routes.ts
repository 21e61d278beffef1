import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi'
import { authorize, type Gate } from '../access/caller.ts'
import { callerOf, projectOf, recordAudit, requirePerson } from '../access/request-project.ts'
import { roleIn } from '../access/roles.ts'
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
  summary: "Change a project's name, retention, quota or prices",
  request: {
    params: z.object({ project: z.string() }),
    ...acceptsBody('PATCH /api/projects/{project}'),
  },
})

const usageRoute = createRoute({
  ...jsonRoute('GET /api/projects/{project}/usage', 'What was received, and the quota'),
  summary: 'What a project sent today, and how much it may send',
  request: { params: z.object({ project: z.string() }) },
})

export function addProjectRoutes(app: OpenAPIHono, gate: Gate): void {
  const { registry } = gate
  addUsageRoute(app, gate)
  app.openapi(listRoute, (context) => {
    const caller = callerOf(context, gate)
    const all = registry.projects()
    // A project includes its prices, which are none of the business of a key that only sends.
    const own = caller.kind === 'key' ? authorize(caller, 'read', undefined, registry) : undefined
    const roles = caller.kind === 'person' ? caller.person?.roles : undefined
    const isShown = ({ id }: Project) =>
      own !== undefined ? id === own : roles === undefined || roleIn(roles, id) !== undefined
    const projects = all.filter(isShown)
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
    const { name, retentionDays, dailySpans, dailyBytes, priceOverrides } = context.req.valid('json')
    const change = {
      ...(name !== undefined && { name }),
      ...(retentionDays !== undefined && { retentionDays }),
      ...(dailySpans !== undefined && { dailySpans }),
      ...(dailyBytes !== undefined && { dailyBytes }),
      ...(priceOverrides !== undefined && { priceOverrides: priceOverrides.map(withoutUndefined) }),
    }
    const updated = await registry.updateProject(project, change)
    const detail = describeChange(change)
    await recordAudit(context, gate, { action: 'project.changed', project, subject: updated.name, detail })
    return context.json(updated, 200)
  })
}

function addUsageRoute(app: OpenAPIHono, gate: Gate): void {
  app.openapi(usageRoute, (context) => {
    const id = projectOf(context, 'read', gate, context.req.valid('param').project)
    const { dailySpans, dailyBytes } = gate.registry.project(id)!
    const day = new Date().toISOString().slice(0, 10)
    return context.json({ day, ...gate.usage.today(id), dailySpans, dailyBytes }, 200)
  })
}

function describeChange(change: Partial<Project>): string {
  const { name, retentionDays, dailySpans, dailyBytes, priceOverrides } = change
  const changes = [
    ...(name === undefined ? [] : [`name: ${name}`]),
    ...(retentionDays === undefined
      ? []
      : [`retention: ${retentionDays === null ? 'forever' : `${retentionDays} days`}`]),
    ...(dailySpans === undefined ? [] : [`spans a day: ${dailySpans ?? 'any number'}`]),
    ...(dailyBytes === undefined ? [] : [`bytes a day: ${dailyBytes ?? 'any number'}`]),
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
