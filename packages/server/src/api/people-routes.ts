import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi'
import type { Gate } from '../access/caller.ts'
import type { People } from '../access/people.ts'
import { recordAudit, requirePerson } from '../access/request-project.ts'
import { EVERYWHERE, type Roles } from '../access/roles.ts'
import { KnownError } from '../errors/known-error.ts'
import { acceptsBody, jsonRoute } from './route-parts.ts'

const listRoute = createRoute({
  ...jsonRoute('GET /api/people', 'The people'),
  summary: 'Everybody who has logged in with OpenID Connect, and their roles',
})

const updateRoute = createRoute({
  ...jsonRoute('PATCH /api/people/{id}', 'The person'),
  summary: "Change a person's roles, or disable them, which ends their logins",
  request: { params: z.object({ id: z.string() }), ...acceptsBody('PATCH /api/people/{id}') },
})

export function addPeopleRoutes(app: OpenAPIHono, gate: Gate): void {
  app.openapi(listRoute, (context) => {
    requirePerson(context, gate)
    return context.json({ people: gate.people?.list() ?? [] }, 200)
  })
  app.openapi(updateRoute, async (context) => {
    requirePerson(context, gate)
    const { roles, isDisabled } = context.req.valid('json')
    if (roles !== undefined) checkProjects(roles, gate)
    const person = await peopleOf(gate).update(context.req.valid('param').id, {
      ...(roles !== undefined && { roles }),
      ...(isDisabled !== undefined && { isDisabled }),
    })
    const detail = [
      ...(roles === undefined ? [] : [`roles: ${describeRoles(roles)}`]),
      ...(isDisabled === undefined ? [] : [isDisabled ? 'disabled' : 'enabled']),
    ]
    await recordAudit(context, gate, {
      action: 'person.changed',
      project: null,
      subject: person.email || person.name,
      detail: detail.join('; '),
    })
    return context.json(person, 200)
  })
}

function peopleOf({ people }: Gate): People {
  if (people === undefined)
    throw new KnownError('NOT_FOUND', 'This server has no login provider, so it knows nobody by name.')
  return people
}

function checkProjects(roles: Roles, { registry }: Gate): void {
  const unknown = Object.keys(roles).find((id) => id !== EVERYWHERE && registry.project(id) === undefined)
  if (unknown !== undefined)
    throw new KnownError('BAD_REQUEST', `There is no project "${unknown}". Use "*" for all projects.`)
}

function describeRoles(roles: Roles): string {
  const entries = Object.entries(roles).map(([project, role]) => `${role} of ${project}`)
  return entries.length === 0 ? 'none' : entries.join(', ')
}
