import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Gate } from '../access/caller.ts'
import { mayStill, projectOf } from '../access/request-project.ts'
import type { LiveFeed, LiveScope } from '../live/live-feed.ts'
import { streamEvents } from '../live/stream-events.ts'
import { findSessionId, type SessionIndex } from '../sessions/find-session.ts'
import { errorResponse, projectParameter } from './route-parts.ts'

const responses = {
  200: {
    description:
      'Server-sent events: `step` (a step began or ended), `session` (its summary changed), `job` (a job of `playhead dev` went on; not for one session), `reset` (events were missed: request the session again). Send `Last-Event-ID` to resume after a lost connection.',
    content: { 'text/event-stream': { schema: z.string() } },
  },
  default: errorResponse,
} as const

const projectRoute = createRoute({
  method: 'get',
  path: '/api/live',
  summary: 'Events of all sessions in the project, as they happen',
  request: {
    query: z.object({
      ...projectParameter,
      only: z
        .enum(['session', 'job'])
        .optional()
        .describe('session: summaries, for lists; job: the jobs of `playhead dev`'),
    }),
  },
  responses,
})

const sessionRoute = createRoute({
  method: 'get',
  path: '/api/sessions/{id}/live',
  summary: 'Events of one session, as they happen',
  request: { params: z.object({ id: z.string() }), query: z.object(projectParameter) },
  responses,
})

export function addLiveRoutes(
  app: OpenAPIHono,
  { gate, live, client, joined }: { gate: Gate; live: LiveFeed } & SessionIndex,
): void {
  const stream = (context: Context, scope: LiveScope) => {
    const lastEventId = context.req.header('last-event-id')
    return streamEvents(context, mayStill(context, 'read', gate), (write) =>
      live.subscribe({ ...scope, lastEventId }, write),
    )
  }
  app.openapi(projectRoute, (context) => {
    const { only } = context.req.valid('query')
    return stream(context, { project: projectOf(context, 'read', gate), ...(only !== undefined && { only }) })
  })
  app.openapi(sessionRoute, async (context) => {
    const project = projectOf(context, 'read', gate)
    const sessionId = await findSessionId({ client, joined }, project, context.req.valid('param').id)
    return stream(context, { project, sessionId })
  })
}
