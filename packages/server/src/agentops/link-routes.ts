import { agentOpsSessionId } from '@playhead/model'
import type { ClickHouseClient } from '@clickhouse/client'
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { sessionPath } from '../access/addresses.ts'
import { authorize, type Caller, type Gate } from '../access/caller.ts'
import { DEFAULT_PROJECT } from '../access/registry.ts'
import { KnownError } from '../errors/known-error.ts'
import { callerOf } from '../access/request-project.ts'
import { traceIdOf } from './agentops-request.ts'

export type LinkServices = { gate: Gate; client: ClickHouseClient; catchUp: () => Promise<void> }

/** Redirects the links that AgentOps' SDKs print: `/sessions?trace_id=` and, up to 0.3, `/drilldown?session_id=`. */
export function addLinkRoutes(app: OpenAPIHono, services: LinkServices): void {
  app.get('/sessions', async (context, next) => {
    const id = traceIdOf(context.req.query('trace_id'))
    return id === undefined ? next() : context.redirect(await pathOf(context, id, services))
  })
  app.get('/drilldown', async (context, next) => {
    const id = agentOpsSessionId(context.req.query('session_id'))
    return id === undefined ? next() : context.redirect(await pathOf(context, id, services))
  })
}

/** The link names no project, so all that the caller may read are searched. The page itself asks for a login. */
async function pathOf(context: Context, id: string, services: LinkServices): Promise<string> {
  return sessionPath(id, (await projectWith(id, context, services)) ?? DEFAULT_PROJECT)
}

async function projectWith(
  id: string,
  context: Context,
  { gate, client, catchUp }: LinkServices,
): Promise<string | undefined> {
  const caller = knownCaller(context, gate)
  if (caller === undefined) return undefined
  await catchUp()
  const projects =
    caller.kind === 'key' ? [caller.key.project] : gate.registry.projects().map((project) => project.id)
  const result = await client.query({
    query: `SELECT project FROM steps WHERE project IN {projects:Array(String)} AND session_id = {id:String} LIMIT 1`,
    query_params: {
      projects: projects.map((project) => authorize(caller, 'read', project, gate.registry)),
      id,
    },
    format: 'JSONEachRow',
  })
  const [row] = await result.json<{ project: string }>()
  return row?.project
}

function knownCaller(context: Context, gate: Gate): Caller | undefined {
  try {
    return callerOf(context, gate)
  } catch (error) {
    if (error instanceof KnownError) return undefined
    throw error
  }
}
