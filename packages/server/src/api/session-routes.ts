import type { Store } from '../store/connect.ts'
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi'
import { weighForks, type SessionSummary } from '@playhead/model'
import { originOf, sessionUrl, type Site } from '../access/addresses.ts'
import type { Gate } from '../access/caller.ts'
import { projectOf } from '../access/request-project.ts'
import type { SessionFindings } from '../findings/session-findings.ts'
import { listFromMemory, listQuerySchema, listSessions } from '../query/list-sessions.ts'
import { filterFields, readFilterValues } from '../query/session-filter.ts'
import type { SessionReader } from '../sessions/session-reader.ts'
import { projectParameter, jsonRoute, sessionParameters, someStepsParameters } from './route-parts.ts'
import { respondWithSteps, sendSession } from './session-response.ts'

const MAX_RERUNS = 1_000

const listRoute = createRoute({
  ...jsonRoute('GET /api/sessions', 'One page; pass `nextCursor` as `cursor` to get the next'),
  summary: 'The sessions that match a filter, newest first',
  request: {
    query: listQuerySchema.extend({
      ...projectParameter,
      suspects: z
        .enum(['true', 'false'])
        .default('false')
        .describe('with the first suspect of each session that went wrong'),
    }),
  },
})

const sessionRoute = createRoute({
  ...jsonRoute('GET /api/sessions/{id}', 'The session'),
  summary: 'One session with its steps in start order; by default only the first steps have payloads',
  request: {
    params: z.object({
      id: z.string().describe('32 hex digits or an unambiguous prefix, with or without s_'),
    }),
    query: z.object({ ...projectParameter, ...sessionParameters }),
  },
})

const stepsRoute = createRoute({
  ...jsonRoute('GET /api/sessions/{id}/steps', 'The steps'),
  summary: 'Some steps of a session without payloads and log records, for the previews that a skeleton lacks',
  request: {
    params: z.object({ id: z.string() }),
    query: z.object({ ...projectParameter, ...someStepsParameters }),
  },
})

const stepRoute = createRoute({
  ...jsonRoute('GET /api/sessions/{id}/steps/{stepId}', 'The step'),
  summary: 'One step with its payload',
  request: { params: z.object({ id: z.string(), stepId: z.string() }), query: z.object(projectParameter) },
})

const rerunsRoute = createRoute({
  ...jsonRoute('GET /api/sessions/{id}/reruns', 'The re-runs'),
  summary: `The sessions that ran this one again, newest first, at most ${MAX_RERUNS}, and what its forks show`,
  request: { params: z.object({ id: z.string() }), query: z.object(projectParameter) },
})

const valuesRoute = createRoute({
  ...jsonRoute('GET /api/values', 'The values'),
  summary: 'The values of a field, most frequent first, for suggestions',
  request: {
    query: z.object({
      ...projectParameter,
      field: z.enum(filterFields),
      contains: z.string().max(200).default(''),
      limit: z.coerce.number().int().min(1).max(200).default(20),
    }),
  },
})

export type SessionServices = {
  gate: Gate
  site: Site
  store: Store
  reader: SessionReader
  findings: SessionFindings
  catchUp: () => Promise<void>
  /** As `catchUp`, for what memory knows. Returns true if the store may lack some of it. */
  catchUpLists: () => Promise<boolean>
}

export function addSessionRoutes(app: OpenAPIHono, services: SessionServices): void {
  const { gate, site, store, reader, findings, catchUp, catchUpLists } = services
  app.openapi(listRoute, async (context) => {
    const project = projectOf(context, 'read', gate)
    const query = context.req.valid('query')
    const isAhead = await catchUpLists()
    let page = listFromMemory(store, project, query)
    if (page === undefined && isAhead) await catchUp()
    page ??= await listSessions(store, project, query)
    const origin = originOf(context.req.url, site)
    const asked = query.suspects === 'true' ? page.sessions.map(({ id }) => id) : []
    const suspects = await findings.stored.readSuspects(project, asked)
    const sessions = page.sessions.map((session) => {
      const suspect = suspects.get(session.id)
      return { ...withUrl(session, project, origin), ...(suspect !== undefined && { suspect }) }
    })
    return context.json({ ...page, sessions }, 200)
  })
  app.openapi(sessionRoute, async (context) => {
    const project = projectOf(context, 'read', gate)
    const { payloads, long } = context.req.valid('query')
    const { id } = context.req.valid('param')
    const read =
      payloads === 'first-screen' && long === 'skeleton'
        ? await reader.openSession(project, id)
        : await reader.readSession(project, id, payloads)
    const session = withUrl(read.session, project, originOf(context.req.url, site))
    const gaps = payloads === 'none' ? undefined : await reader.readTapeGaps(project, read)
    const tapeGaps = gaps?.map(({ reason: code, ...gap }) => ({ code, ...gap }))
    const response = {
      ...read,
      session,
      ...(tapeGaps !== undefined && { tapeGaps }),
    }
    return sendSession(context, response)
  })
  addStepRoutes(app, services)
  app.openapi(rerunsRoute, async (context) => {
    const project = projectOf(context, 'read', gate)
    const { id } = await reader.readSummary(project, context.req.valid('param').id)
    const query = listQuerySchema.parse({ parent: id, limit: MAX_RERUNS })
    const { sessions } = await listSessions(store, project, query)
    const origin = originOf(context.req.url, site)
    const reruns = sessions.map((session) => withUrl(session, project, origin))
    return context.json({ reruns, evidence: weighForks(reruns) }, 200)
  })
  app.openapi(valuesRoute, async (context) => {
    const project = projectOf(context, 'read', gate)
    await catchUp()
    return context.json(
      { values: await readFilterValues(store.client, project, context.req.valid('query')) },
      200,
    )
  })
}

function addStepRoutes(app: OpenAPIHono, { gate, reader }: SessionServices): void {
  app.openapi(stepsRoute, async (context) => {
    const project = projectOf(context, 'read', gate)
    const { ids } = context.req.valid('query')
    const steps = await reader.readOutlines(project, context.req.valid('param').id, ids)
    return respondWithSteps(context, { steps })
  })
  app.openapi(stepRoute, async (context) => {
    const project = projectOf(context, 'read', gate)
    const { id, stepId } = context.req.valid('param')
    return respondWithSteps(context, await reader.readStep(project, id, stepId))
  })
}

export function withUrl(session: SessionSummary, project: string, origin: string): SessionSummary {
  return { ...session, url: sessionUrl(origin, { id: session.id, project }) }
}
