import type { Span } from '@playhead/model'
import type { ClickHouseClient } from '@clickhouse/client'
import type { Context, Hono } from 'hono'
import { KnownError } from '../errors/known-error.ts'
import type { Gate } from '../access/caller.ts'
import type { SessionReader } from '../sessions/session-reader.ts'
import { agentOpsCaller } from './agentops-caller.ts'
import { headerOf, traceIdOf } from './agentops-request.ts'
import { nestAttributes } from './nest-attributes.ts'
import { stepMetrics, traceMetrics } from './trace-metrics.ts'

export type PublicServices = {
  gate: Gate
  client: ClickHouseClient
  reader: SessionReader
  catchUp: () => Promise<void>
}

/** AgentOps' public API, for its MCP server and for `validate_trace_spans`. */
export function addPublicRoutes(app: Hono, services: PublicServices): void {
  const { gate, reader } = services
  const { registry } = gate
  const route = (path: string, read: (project: string, id: string) => Promise<object>) =>
    app.get(`/public/v1/${path}`, async (context: Context) => {
      const { project } = agentOpsCaller(headerOf(context), 'read', gate)
      return context.json(await read(project, context.req.param('id') ?? ''))
    })
  route('project', async (project) => {
    const { id, name } = registry.project(project)!
    return { id, name, environment: 'production' }
  })
  route('traces/:id', async (project, id) => {
    const { spans, session } = await readTrace(project, id, reader)
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
    const { session, steps } = await reader.readSession(project, traceIdOf(id) ?? id, 'none')
    return traceMetrics(session, steps, registry.pricerOf(project).pricer)
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
    return stepMetrics([step], registry.pricerOf(project).pricer)
  })
}

async function readTrace(project: string, id: string, reader: SessionReader) {
  const traceId = traceIdOf(id) ?? id
  const [spans, session] = await Promise.all([
    reader.readSpans(project, traceId),
    reader.readSummary(project, traceId),
  ])
  return { spans, session }
}

/** Span ids are unique only within a session: this finds the newest session that has the id. */
async function findSpan(project: string, id: string, { reader, client, catchUp }: PublicServices) {
  await catchUp()
  const result = await client.query({
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
