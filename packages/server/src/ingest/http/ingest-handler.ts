import type { IncomingMessage, ServerResponse } from 'node:http'
import { projectToSendTo, type Gate } from '../../access/caller.ts'
import type { BodyLimits } from '../../door/body-budget.ts'
import { UPLOAD_ARRIVAL_MS } from '../../door/body-limits.ts'
import type { ReceivedBody } from '../../door/received-body.ts'
import type { BodyRule } from '../../door/body-rules.ts'
import type { Destination } from '../../door/door.ts'
import type { Refusal } from '../../door/refuse-request.ts'
import { KnownError, toErrorResponse, type ErrorResponse } from '../../errors/known-error.ts'
import type { Diagnostics } from '../counters.ts'
import { ingestLogs, ingestSpans, ingestTraces, type IngestPipeline } from '../ingest-batch.ts'
import { encodeStatus, encodeProtobufResponse } from '../otlp-protobuf/protobuf-responses.ts'
import { decodeOpenAiAgents } from './decode-openai-agents.ts'
import { decodeLogs, decodeTraces, formatOf } from './decode-otlp.ts'
import { describeRejections, type Rejection } from '../rejection.ts'
import type { ContentFormat } from '../span-thread.ts'

/** With `1`, the spans replace what has ended. It needs the scope "admin". */
const REWRITE_HEADER = 'x-playhead-rewrite'

/**
 * Handles what SDKs post: OTLP, under any path prefix, and the export of OpenAI Agents. Works on the raw socket instead
 * of Hono, because every span passes through here.
 */
export function createIngestHandler(options: {
  pipeline: IngestPipeline
  gate: Gate
  limits: BodyLimits
  diagnostics: Diagnostics
}): Destination {
  const { pipeline, gate, limits, diagnostics } = options
  const from: BodyRule['from'] = ({ header, address }) =>
    projectToSendTo(header, isOn(header(REWRITE_HEADER)) ? 'admin' : 'ingest', gate, address)
  return {
    findRule: (method) =>
      method === 'POST' ? { rule: { from, ...limits, arrivalMs: UPLOAD_ARRIVAL_MS }, params: {} } : undefined,
    greet: allowLoopbackPages,
    async handle(request, response, { project, body }) {
      if (request.method === 'OPTIONS') return void response.writeHead(204).end()
      const path = (request.url ?? '').replace(/\?.*$/, '').replace(/\/$/, '')
      if (project === undefined || body === undefined) {
        throw new KnownError(
          'METHOD_NOT_ALLOWED',
          `${path} accepts only POST: SDKs send OTLP to it. Read sessions from /api/sessions.`,
        )
      }
      const isRewrite = isOn([request.headers[REWRITE_HEADER]].flat()[0])
      send(response, 200, await ingest(pipeline, { project, path, request, body, isRewrite }))
    },
    describe: (error, request) => toOtlpRefusal(request, errorResponseOf(error, request, diagnostics)),
  }
}

function isOn(header: string | undefined): boolean {
  return header === '1' || header === 'true'
}

async function ingest(
  pipeline: IngestPipeline,
  post: { project: string; path: string; request: IncomingMessage; body: ReceivedBody; isRewrite: boolean },
): Promise<ResponseBody> {
  const { project, path, request, body, isRewrite } = post
  const bytes = body.length
  if (path.endsWith('/v1/traces/ingest')) {
    const receivedAtNs = BigInt(Date.now()) * 1_000_000n
    return jsonBody({
      rejected: await ingestSpans(pipeline, project, () => decodeOpenAiAgents(body.whole(), receivedAtNs), {
        bytes,
      }),
    })
  }
  if (path.endsWith('/v1/traces')) {
    const format = formatOf(body.start, contentType(request))
    const rejected = await ingestTraces(pipeline, { project, body, format, isRewrite }, (unread) =>
      decodeTraces(unread, format),
    )
    return encodeExportResponse('traces', format, rejected)
  }
  if (path.endsWith('/v1/logs')) {
    const format = formatOf(body.start, contentType(request))
    const rejected = await ingestLogs(pipeline, project, () => decodeLogs(body.whole(), format), { bytes })
    return encodeExportResponse('logs', format, rejected)
  }
  // Metrics are accepted and dropped: SDKs send them by default.
  return {
    contentType: contentType(request) || 'application/json',
    body: contentType(request).includes('json') ? Buffer.from('{}') : Buffer.alloc(0),
  }
}

function errorResponseOf(
  error: unknown,
  request: IncomingMessage,
  { counters, report }: Diagnostics,
): ErrorResponse {
  if (error instanceof KnownError) {
    counters.requestsRefused += 1
    return toErrorResponse(error)
  }
  counters.failures += 1
  report(`Request to ${request.url} failed: ${error instanceof Error ? error.stack : String(error)}`)
  const message = 'Internal error; see the output of the server. No part of this batch was acknowledged.'
  return { status: 500, headers: {}, body: { error: { code: 'INTERNAL', message } } }
}

function toOtlpRefusal(request: IncomingMessage, { status, headers, body }: ErrorResponse): Refusal {
  const { message } = body.error
  const refusal = contentType(request).includes('protobuf')
    ? { contentType: 'application/x-protobuf', body: encodeStatus(message) }
    : // Besides our error, the fields of OTLP's Status: SDKs print its `message`.
      jsonBody({ code: status === 503 ? 14 : 3, message, ...body })
  return {
    status,
    headers: {
      ...headers,
      ...(status === 405 && { allow: 'POST, OPTIONS' }),
      'content-type': refusal.contentType,
    },
    body: refusal.body,
  }
}

function send(response: ServerResponse, status: number, { contentType: type, body }: ResponseBody): void {
  response.writeHead(status, { 'content-type': type, 'content-length': body.length })
  response.end(body)
}

/** Lets pages that passed the origin guard (the developer's own, on loopback) read the response. */
function allowLoopbackPages(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.origin === undefined) return
  response.setHeader('access-control-allow-origin', request.headers.origin)
  response.setHeader('access-control-allow-methods', 'POST')
  response.setHeader(
    'access-control-allow-headers',
    'content-type, content-encoding, authorization, x-api-key, x-playhead-project, traceparent',
  )
  response.setHeader('vary', 'origin')
}

function contentType(request: IncomingMessage): string {
  return request.headers['content-type'] ?? ''
}

type Signal = 'traces' | 'logs'
type ResponseBody = { contentType: string; body: Buffer }

const rejectedFields = {
  traces: 'rejectedSpans',
  logs: 'rejectedLogRecords',
} as const satisfies Record<Signal, string>

/** The OTLP response to a stored batch, in the format of the request. */
export function encodeExportResponse(
  signal: Signal,
  format: ContentFormat,
  rejected: readonly Rejection[],
): ResponseBody {
  return format === 'json'
    ? jsonBody(toJsonResponse(signal, rejected))
    : { contentType: 'application/x-protobuf', body: encodeProtobufResponse(rejected) }
}

function jsonBody(value: object): ResponseBody {
  return { contentType: 'application/json', body: Buffer.from(JSON.stringify(value)) }
}

function toJsonResponse(signal: Signal, rejected: readonly Rejection[]): object {
  if (rejected.length === 0) return {}
  return {
    partialSuccess: {
      [rejectedFields[signal]]: String(rejected.length),
      errorMessage: describeRejections(rejected),
    },
  }
}
