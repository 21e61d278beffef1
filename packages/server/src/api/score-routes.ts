import { randomUUID } from 'node:crypto'
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi'
import type { Gate } from '../access/caller.ts'
import { projectOf } from '../access/request-project.ts'
import type { IngestPipeline } from '../ingest/ingest-batch.ts'
import { ingestScore } from '../ingest/ingest-score.ts'
import type { JoinedTraces } from '../sessions/joined-traces.ts'
import { findSessionId } from '../sessions/find-session.ts'
import type { Store } from '../store/connect.ts'
import { acceptsBody, jsonRoute, projectParameter } from './route-parts.ts'

const scoreRoute = createRoute({
  ...jsonRoute('POST /api/sessions/{id}/scores', 'The score', 201),
  summary:
    'Give a session or one of its steps a score. Works before the session arrives, with all 32 digits of its id',
  request: {
    params: z.object({ id: z.string() }),
    query: z.object(projectParameter),
    ...acceptsBody('POST /api/sessions/{id}/scores'),
  },
})

export type ScoreServices = {
  gate: Gate
  store: Store
  joined: JoinedTraces
  pipeline: IngestPipeline
  catchUp: () => Promise<void>
}

export function addScoreRoutes(
  app: OpenAPIHono,
  { gate, store, joined, pipeline, catchUp }: ScoreServices,
): void {
  app.openapi(scoreRoute, async (context) => {
    const project = projectOf(context, 'ingest', gate)
    const { id } = context.req.valid('param')
    // A short id can only be that of a session that is there.
    if (!/^[0-9a-f]{32}$/i.test(id)) await catchUp()
    const sessionId = await findSessionId({ client: store.client, joined }, project, id)
    const { id: scoreId = randomUUID(), ...score } = context.req.valid('json')
    return context.json(await ingestScore(pipeline, project, sessionId, { id: scoreId, ...score }), 201)
  })
}
