import { readFile } from 'node:fs/promises'
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi'
import { fillOneFile, shortSessionId, spansToOtlpJson, toRecording, type Recording } from '@playhead/model'
import type { Context } from 'hono'
import { originOf, type Site } from '../access/addresses.ts'
import type { Gate } from '../access/caller.ts'
import { KnownError } from '../errors/known-error.ts'
import { projectOf } from '../access/request-project.ts'
import type { SessionReader } from '../sessions/session-reader.ts'
import { errorResponse, projectParameter, jsonRoute } from './route-parts.ts'
import { respondWithSteps } from './session-response.ts'
import { withUrl } from './session-routes.ts'

const request = { params: z.object({ id: z.string() }), query: z.object(projectParameter) }

const recordingRoute = createRoute({
  ...jsonRoute('GET /api/sessions/{id}/recording', 'The recording'),
  summary: 'The session as a recording: one JSON file with all payloads',
  request,
})

const otlpRoute = createRoute({
  ...jsonRoute('GET /api/sessions/{id}/recording.otlp', 'The spans'),
  summary: 'The spans of the session as OTLP/JSON, which any OpenTelemetry backend accepts',
  request,
})

const htmlRoute = createRoute({
  method: 'get',
  path: '/api/sessions/{id}/recording.html',
  summary: 'The replay as one HTML file, which opens from disk without a server',
  request,
  responses: {
    200: { description: 'The replay', content: { 'text/html': { schema: z.string() } } },
    default: errorResponse,
  },
})

type RecordingServices = { gate: Gate; site: Site; reader: SessionReader }

export function addRecordingRoutes(app: OpenAPIHono, services: RecordingServices): void {
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
    const project = projectOf(context, 'read', services.gate)
    const spans = await services.reader.readSpans(project, context.req.valid('param').id)
    context.header(
      'content-disposition',
      `attachment; filename="${shortSessionId(spans[0]?.traceId ?? '')}.otlp.json"`,
    )
    return context.json(spansToOtlpJson(spans), 200)
  })
}

async function readRecording(
  context: Context,
  id: string,
  { gate, site, reader }: RecordingServices,
): Promise<Recording> {
  const project = projectOf(context, 'read', gate)
  const read = await reader.readSession(project, id, 'all')
  const session = withUrl(read.session, project, originOf(context.req.url, site))
  return toRecording({ ...read, session }, new Date().toISOString())
}

/** The built page: beside the server in an installation, in the dashboard's package in a checkout. */
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
    'The replay page is not built in this checkout. Build it with: npm run build. The recording is at /recording.',
  )
}
