import { createRoute, z } from '@hono/zod-openapi'
import { shortSessionId, toRecording } from '@playhead/model'
import { spansToOtlpJson } from '@playhead/model'
import type { Services } from '../services.ts'
import { projectOf, type App } from './request-project.ts'
import { answers, projectParameter } from './route-parts.ts'
import { withUrl } from './session-routes.ts'

const request = { params: z.object({ id: z.string() }), query: z.object(projectParameter) }

const recordingRoute = createRoute({
  method: 'get',
  path: '/api/sessions/{id}/recording',
  summary: 'The session as a recording: one JSON file with every payload',
  request,
  responses: answers('The recording', z.looseObject({ version: z.number() })),
})

const otlpRoute = createRoute({
  method: 'get',
  path: '/api/sessions/{id}/recording.otlp',
  summary: 'The session as it arrived: OTLP/JSON that any OpenTelemetry backend takes',
  request,
  responses: answers('The spans', z.looseObject({ resourceSpans: z.array(z.unknown()) })),
})

export function addRecordingRoutes(app: App, services: Services): void {
  app.openapi(recordingRoute, async (context) => {
    const project = projectOf(context, 'read', services)
    const { session, steps } = await services.reader.readSession(
      project,
      context.req.valid('param').id,
      'all',
    )
    context.header(
      'content-disposition',
      `attachment; filename="${shortSessionId(session.id)}.playhead.json"`,
    )
    const recording = toRecording(
      { session: withUrl(context, session, services), steps },
      new Date().toISOString(),
    )
    return context.json(recording as { version: number }, 200)
  })
  app.openapi(otlpRoute, async (context) => {
    const project = projectOf(context, 'read', services)
    const spans = await services.reader.readSpans(project, context.req.valid('param').id)
    context.header(
      'content-disposition',
      `attachment; filename="${shortSessionId(spans[0]?.traceId ?? '')}.otlp.json"`,
    )
    return context.json(spansToOtlpJson(spans) as { resourceSpans: unknown[] }, 200)
  })
}
