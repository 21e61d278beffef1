import type { Span } from '@playhead/model'
import type { Context } from 'hono'
import { KnownError } from '../errors/known-error.ts'
import type { App } from '../access/request-project.ts'
import type { Services } from '../process/services.ts'
import { agentOpsCaller } from './agentops-caller.ts'
import { answerAgentOps, headerOf } from './answer-agentops.ts'
import { nestAttributes } from './nest-attributes.ts'
import { stepMetrics, traceMetrics } from './trace-metrics.ts'
import { traceIdOf } from './upload-routes.ts'

/** AgentOps' public API, for its MCP server and for `validate_trace_spans`. */
export function addPublicRoutes(app: App, services: Services): void {
  const route = (path: string, answer: (project: string, id: string) => Promise<object>) => {
    const respond = async (context: Context) => {
      const { project } = agentOpsCaller(headerOf(context), 'read', services)
      return context.json(await answer(project, context.req.param('id') ?? ''))
    }
    app.get(`/public/v1/${path}`, answerAgentOps(services, respond))
  }
  route('project', async (project) => {
    const { id, name } = services.registry.project(project)!
    return { id, name, environment: 'production' }
  })
  route('traces/:id', async (project, id) => {
    const { spans, session } = await readTrace(project, id, services)
    return {
      trace_id: session.id,
      project_id: project,
      tags: session.tags,
      spans: spans.map((span) => ({
        ...presentSpan(span),
        span_attributes: nestAttributes(span.attributes),
      })),
    }
  })
  route('traces/:id/metrics', async (project, id) => {
    const { session, steps } = await services.reader.readSession(project, traceIdOf(id) ?? id, 'none')
    return traceMetrics(session, steps, services.targets.pricerOf(project).pricer)
  })
  route('spans/:id', async (project, id) => {
    const { span } = await findSpan(project, id, services)
    return {
      ...presentSpan(span),
      trace_id: span.traceId,
      service_name: span.resource['service.name'] ?? '',
      attributes: span.attributes,
      resource_attributes: span.resource,
      span_attributes: nestAttributes(span.attributes),
    }
  })
  route('spans/:id/metrics', async (project, id) => {
    const { step } = await findSpan(project, id, services)
    return stepMetrics([step], services.targets.pricerOf(project).pricer)
  })
}

async function readTrace(project: string, id: string, { reader }: Services) {
  const traceId = traceIdOf(id) ?? id
  const [spans, session] = await Promise.all([
    reader.readSpans(project, traceId),
    reader.readSummary(project, traceId),
  ])
  return { spans, session }
}

/** A span's id alone does not say where it is: the newest session that has it is meant. */
async function findSpan(project: string, id: string, { reader, store, catchUp }: Services) {
  await catchUp()
  const result = await store.client.query({
    query: `SELECT session_id FROM steps WHERE project = {project:String} AND step_id = {id:String}
      ORDER BY received_at DESC LIMIT 1`,
    query_params: { project, id: id.toLowerCase() },
    format: 'JSONEachRow',
  })
  const [row] = await result.json<{ session_id: string }>()
  if (row === undefined)
    throw new KnownError('STEP_NOT_FOUND', `There is no span ${id.slice(0, 60)} in this project.`)
  const [spans, { steps }] = await Promise.all([
    reader.readSpans(project, row.session_id),
    reader.readSession(project, row.session_id, 'none'),
  ])
  const span = spans.find((candidate) => candidate.spanId === id.toLowerCase())!
  return { span, step: steps.find((candidate) => candidate.id === span.spanId)! }
}

const spanKinds = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER']
const statusCodes = ['UNSET', 'OK', 'ERROR']

function presentSpan(span: Span) {
  const endNs = span.endNs ?? span.startNs
  return {
    span_id: span.spanId,
    parent_span_id: span.parentSpanId,
    span_name: span.name,
    span_kind: `SPAN_KIND_${spanKinds[span.kind]}`,
    start_time: isoTime(span.startNs),
    end_time: isoTime(endNs),
    duration: Number(endNs - span.startNs),
    status_code: statusCodes[span.statusCode],
    status_message: span.statusMessage,
  }
}

function isoTime(timeNs: bigint): string {
  return new Date(Number(timeNs / 1_000_000n)).toISOString()
}
