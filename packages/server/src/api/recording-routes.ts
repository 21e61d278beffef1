import { readFile } from 'node:fs/promises'
import { createRoute, z } from '@hono/zod-openapi'
import { fillOneFile, shortSessionId, spansToOtlpJson, toRecording, type Recording } from '@playhead/model'
import type { Context } from 'hono'
import type { Services } from '../process/services.ts'
import { KnownError } from '../errors/known-error.ts'
import { projectOf, type App } from '../access/request-project.ts'
import { errorResponse, respondsWith, projectParameter } from './route-parts.ts'
import { respondWithSteps, withUrl } from './session-routes.ts'

const request = { params: z.object({ id: z.string() }), query: z.object(projectParameter) }

const recordingRoute = createRoute({
  method: 'get',
  path: '/api/sessions/{id}/recording',
  summary: 'The session as a recording: one JSON file with every payload',
  request,
  responses: respondsWith('GET /api/sessions/{id}/recording', 'The recording'),
})

const otlpRoute = createRoute({
  method: 'get',
  path: '/api/sessions/{id}/recording.otlp',
  summary: 'The session as it arrived: OTLP/JSON that any OpenTelemetry backend takes',
  request,
  responses: respondsWith('GET /api/sessions/{id}/recording.otlp', 'The spans'),
})

const htmlRoute = createRoute({
  method: 'get',
  path: '/api/sessions/{id}/recording.html',
  summary: 'The session as a replay in one HTML file that opens from disk, without a server',
  request,
  responses: {
    200: { description: 'The replay', content: { 'text/html': { schema: z.string() } } },
    default: errorResponse,
  },
})

export function addRecordingRoutes(app: App, services: Services): void {
  app.openapi(recordingRoute, async (context) => {
    const recording = await readRecording(context, context.req.valid('param').id, services)
    context.header(
      'content-disposition',
      `attachment; filename="${shortSessionId(recording.session.id)}.playhead.json"`,
    )
    return respondWithSteps(context, recording)
  })
  app.openapi(htmlRoute, async (context) => {
    const recording = await readRecording(context, context.req.valid('param').id, services)
    const page = await fillOneFile(await readTemplate(), [recording])
    context.header(
      'content-disposition',
      `attachment; filename="${shortSessionId(recording.session.id)}.html"`,
    )
    return context.html(page, 200)
  })
  app.openapi(otlpRoute, async (context) => {
    const project = projectOf(context, 'read', services)
    const spans = await services.reader.readSpans(project, context.req.valid('param').id)
    context.header(
      'content-disposition',
      `attachment; filename="${shortSessionId(spans[0]?.traceId ?? '')}.otlp.json"`,
    )
    return context.json(spansToOtlpJson(spans), 200)
  })
}

async function readRecording(context: Context, id: string, services: Services): Promise<Recording> {
  const project = projectOf(context, 'read', services)
  const { session, steps } = await services.reader.readSession(project, id, 'all')
  return toRecording(
    { session: withUrl(context, { session, project }, services), steps },
    new Date().toISOString(),
  )
}

/** Where the built page is: beside the server when it is installed, in the dashboard's own package when it is not. */
const templates = ['../../dist/dashboard/one-file.html', '../../../dashboard/dist/one-file.html'].map(
  (path) => new URL(path, import.meta.url),
)

async function readTemplate(): Promise<string> {
  for (const template of templates) {
    const page = await readFile(template, 'utf8').catch(() => undefined)
    if (page !== undefined) return page
  }
  throw new KnownError(
    'NOT_FOUND',
    'The replay page is not built in this checkout. Build it with: npm run build. The recording itself is at /recording.',
  )
}
