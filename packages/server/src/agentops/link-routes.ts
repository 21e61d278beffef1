import { agentOpsSessionId } from '@playhead/model'
import type { Context } from 'hono'
import { authorize, type Caller } from '../access/caller.ts'
import { DEFAULT_PROJECT } from '../access/registry.ts'
import { KnownError } from '../errors/known-error.ts'
import { callerOf, type App } from '../access/request-project.ts'
import type { Services } from '../process/services.ts'
import { traceIdOf } from './upload-routes.ts'

/** The links that AgentOps' SDKs print: `/sessions?trace_id=` and, up to 0.3, `/drilldown?session_id=`. */
export function addLinkRoutes(app: App, services: Services): void {
  app.get('/sessions', async (context, next) => {
    const id = traceIdOf(context.req.query('trace_id'))
    return id === undefined ? next() : context.redirect(await pathOf(context, id, services))
  })
  app.get('/drilldown', async (context, next) => {
    const id = agentOpsSessionId(context.req.query('session_id'))
    return id === undefined ? next() : context.redirect(await pathOf(context, id, services))
  })
}

/** The link names no project: it is looked for in those that whoever clicks may read. The page itself asks for a login. */
async function pathOf(context: Context, id: string, services: Services): Promise<string> {
  const project = await projectWith(id, context, services)
  const query = project === undefined || project === DEFAULT_PROJECT ? '' : `?project=${project}`
  return `/sessions/${id}${query}`
}

async function projectWith(id: string, context: Context, services: Services): Promise<string | undefined> {
  const caller = knownCaller(context, services)
  if (caller === undefined) return undefined
  await services.catchUp()
  const projects =
    caller.kind === 'key' ? [caller.key.project] : services.registry.projects().map((project) => project.id)
  const result = await services.store.client.query({
    query: `SELECT project FROM steps WHERE project IN {projects:Array(String)} AND session_id = {id:String} LIMIT 1`,
    query_params: {
      projects: projects.map((project) => authorize(caller, 'read', project, services.registry)),
      id,
    },
    format: 'JSONEachRow',
  })
  const [row] = await result.json<{ project: string }>()
  return row?.project
}

function knownCaller(context: Context, services: Services): Caller | undefined {
  try {
    return callerOf(context, services)
  } catch (error) {
    if (error instanceof KnownError) return undefined
    throw error
  }
}
