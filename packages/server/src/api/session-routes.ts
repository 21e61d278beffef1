import { createRoute, z } from '@hono/zod-openapi'
import type { Session, SessionSummary, Step } from '@playhead/model'
import type { Context } from 'hono'
import { DEFAULT_PROJECT } from '../access/registry.ts'
import { listQuerySchema, listSessions } from '../query/list-sessions.ts'
import { filterFields, readFilterValues } from '../query/session-filter.ts'
import type { Services } from '../process/services.ts'
import { projectOf, type App } from '../access/request-project.ts'
import { respondsWith, projectParameter } from './route-parts.ts'
import { STREAMED_FROM_STEPS, streamSession } from './stream-session.ts'

const listRoute = createRoute({
  method: 'get',
  path: '/api/sessions',
  summary: 'Sessions that a filter finds, newest first',
  request: { query: listQuerySchema.extend(projectParameter) },
  responses: respondsWith('GET /api/sessions', 'One page; `nextCursor` leads to the next'),
})

const sessionRoute = createRoute({
  method: 'get',
  path: '/api/sessions/{id}',
  summary: 'One session with its steps in start order; payloads of the first screen only',
  request: {
    params: z.object({
      id: z.string().describe('32 hex digits, or an unambiguous beginning, with or without s_'),
    }),
    query: z.object({
      ...projectParameter,
      payloads: z.enum(['first-screen', 'all', 'none']).default('first-screen'),
    }),
  },
  responses: respondsWith('GET /api/sessions/{id}', 'The session'),
})

const stepRoute = createRoute({
  method: 'get',
  path: '/api/sessions/{id}/steps/{stepId}',
  summary: 'One step with everything it holds',
  request: { params: z.object({ id: z.string(), stepId: z.string() }), query: z.object(projectParameter) },
  responses: respondsWith('GET /api/sessions/{id}/steps/{stepId}', 'The step'),
})

const valuesRoute = createRoute({
  method: 'get',
  path: '/api/values',
  summary: 'Values that occur in a field, for suggestions, most frequent first',
  request: {
    query: z.object({
      ...projectParameter,
      field: z.enum(filterFields),
      contains: z.string().max(200).default(''),
      limit: z.coerce.number().int().min(1).max(200).default(20),
    }),
  },
  responses: respondsWith('GET /api/values', 'The values'),
})

export function addSessionRoutes(app: App, services: Services): void {
  app.openapi(listRoute, async (context) => {
    const project = projectOf(context, 'read', services)
    await services.catchUp()
    const page = await listSessions(services.store.client, project, context.req.valid('query'))
    const sessions = page.sessions.map((session) => withUrl(context, { session, project }, services))
    return context.json({ ...page, sessions }, 200)
  })
  app.openapi(sessionRoute, async (context) => {
    const project = projectOf(context, 'read', services)
    const { id } = context.req.valid('param')
    const { session, steps } = await services.reader.readSession(
      project,
      id,
      context.req.valid('query').payloads,
    )
    const answer = { session: withUrl(context, { session, project }, services), steps }
    return steps.length >= STREAMED_FROM_STEPS
      ? (streamSession(answer) as never)
      : respondWithSteps(context, answer)
  })
  app.openapi(stepRoute, async (context) => {
    const project = projectOf(context, 'read', services)
    const { id, stepId } = context.req.valid('param')
    return respondWithSteps(context, await services.reader.readStep(project, id, stepId))
  })
  app.openapi(valuesRoute, async (context) => {
    const project = projectOf(context, 'read', services)
    await services.catchUp()
    return context.json(
      { values: await readFilterValues(services.store.client, project, context.req.valid('query')) },
      200,
    )
  })
}

/** Hono's JSON types do not terminate on attributes, which nest; the schemas hold them to the model's types instead. */
export function respondWithSteps(context: Context, body: Session | Step): never {
  return context.json<object>(body, 200) as never
}

/** Every session has a URL: below the address that the request came in by, unless the server was told its own. */
export function sessionUrl(
  context: Context,
  { id, project }: { id: string; project: string },
  { config }: Pick<Services, 'config'>,
): string {
  const query = project === DEFAULT_PROJECT ? '' : `?project=${project}`
  return `${baseUrl(context, config)}/sessions/${id}${query}`
}

export function baseUrl(context: Context, config: Services['config']): string {
  return config.publicUrl ?? new URL(context.req.url).origin
}

export function withUrl(
  context: Context,
  { session, project }: { session: SessionSummary; project: string },
  services: Pick<Services, 'config'>,
): SessionSummary {
  return { ...session, url: sessionUrl(context, { id: session.id, project }, services) }
}
