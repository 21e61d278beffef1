import { createRoute, z } from '@hono/zod-openapi'
import { streamSSE, type SSEStreamingApi } from 'hono/streaming'
import type { Context } from 'hono'
import type { LiveEvent } from './schemas/responses.ts'
import { findSessionId } from '../sessions/find-session.ts'
import type { Services } from '../process/services.ts'
import { projectOf, type App } from '../access/request-project.ts'
import { errorResponse, projectParameter } from './route-parts.ts'

const responses = {
  200: {
    description:
      'Server-sent events: `step` (a step began or ended), `session` (its summary changed), `reset` (events were missed: ask again). Send `Last-Event-ID` to go on where the connection broke.',
    content: { 'text/event-stream': { schema: z.string() } },
  },
  default: errorResponse,
} as const

const projectRoute = createRoute({
  method: 'get',
  path: '/api/live',
  summary: 'What happens in the project, as it happens',
  request: {
    query: z.object({
      ...projectParameter,
      only: z.enum(['session']).optional().describe('leave the steps out: a list needs summaries only'),
    }),
  },
  responses,
})

const sessionRoute = createRoute({
  method: 'get',
  path: '/api/sessions/{id}/live',
  summary: 'What happens in one session, as it happens',
  request: { params: z.object({ id: z.string() }), query: z.object(projectParameter) },
  responses,
})

/** Proxies close connections that stay silent for a minute. */
const HEARTBEAT_MS = 15_000
/** A viewer that does not read holds this many events, then starts over. */
const MAX_QUEUED_EVENTS = 10_000

export function addLiveRoutes(app: App, services: Services): void {
  app.openapi(projectRoute, (context) =>
    stream(context, services, {
      project: projectOf(context, 'read', services),
      isSummariesOnly: context.req.valid('query').only === 'session',
    }),
  )
  app.openapi(sessionRoute, async (context) => {
    const project = projectOf(context, 'read', services)
    const sessionId = await findSessionId(services.store.client, project, context.req.valid('param').id)
    return stream(context, services, { project, sessionId })
  })
}

type Scope = { project: string; sessionId?: string; isSummariesOnly?: boolean }

function stream(context: Context, services: Services, scope: Scope): Response {
  context.header('cache-control', 'no-store')
  context.header('x-accel-buffering', 'no')
  return streamSSE(context, (output) =>
    relay(output, services, { ...scope, lastEventId: context.req.header('last-event-id') }),
  )
}

async function relay(
  output: SSEStreamingApi,
  services: Services,
  scope: Scope & { lastEventId: string | undefined },
): Promise<void> {
  let queue: { id: string; event: LiveEvent }[] = []
  let wake = () => {}
  const unsubscribe = services.live.subscribe(scope, (id, event) => {
    if (scope.isSummariesOnly === true && event.type === 'step') return
    queue.push({ id, event })
    if (queue.length > MAX_QUEUED_EVENTS) queue = [{ id, event: { type: 'reset' } }]
    wake()
  })
  output.onAbort(() => {
    unsubscribe()
    wake()
  })
  await output.write(': connected\n\n')
  while (!output.aborted && !output.closed) {
    const next = queue.shift()
    if (next === undefined) {
      if (!(await waitFor((resolve) => (wake = resolve)))) await output.write(': alive\n\n')
      continue
    }
    const { type, ...data } = next.event
    await output.writeSSE({ id: next.id, event: type, data: JSON.stringify(data) })
  }
  unsubscribe()
}

/** True when it was woken, false when the heartbeat is due. */
function waitFor(onWake: (wake: () => void) => void): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), HEARTBEAT_MS)
    onWake(() => {
      clearTimeout(timer)
      resolve(true)
    })
  })
}
