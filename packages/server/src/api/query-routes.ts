import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi'
import type { Gate } from '../access/caller.ts'
import { projectOf } from '../access/request-project.ts'
import type { SqlQueries } from '../sql/run-query.ts'
import { acceptsBody, jsonRoute, projectParameter } from './route-parts.ts'

const queryRoute = createRoute({
  ...jsonRoute('POST /api/query', 'The rows'),
  summary:
    'Runs one SELECT on the tables of the project: sessions, actions, llm_calls, errors, findings, steps',
  request: { query: z.object(projectParameter), ...acceptsBody('POST /api/query') },
})

export function addQueryRoutes(
  app: OpenAPIHono,
  { gate, sql, catchUp }: { gate: Gate; sql: SqlQueries; catchUp: () => Promise<void> },
): void {
  app.openapi(queryRoute, async (context) => {
    const project = projectOf(context, 'read', gate)
    const { sql: statement, limit } = context.req.valid('json')
    await catchUp()
    return context.json(await sql.run(project, statement, limit), 200)
  })
}
