import type { IncomingMessage, ServerResponse } from 'node:http'
import { authorize, identify } from '../../access/caller.ts'
import { acceptSpans } from '../accept.ts'
import { decodeOpenAiAgents } from './decode-openai-agents.ts'
import { encodeExportResponse, encodeStatus, type ExportSignal } from './encode-export-response.ts'
import { withBody } from './read-body.ts'
import { takeLogs, takeTraces, type Taken } from '../take-batch.ts'
import type { Services } from '../../process/services.ts'
import { answerError, KnownError, type ErrorBody } from '../../errors/known-error.ts'

/**
 * What SDKs post: OTLP on its own paths, below whatever prefix they put before them, and OpenAI Agents' own export.
 * Read from the socket directly, because every span passes here.
 */
export async function handleIngest(
  services: Services,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (request.url ?? '').replace(/\?.*$/, '').replace(/\/$/, '')
  allowLoopbackPages(request, response)
  try {
    if (request.method === 'OPTIONS') return void response.writeHead(204).end()
    if (request.method !== 'POST') {
      throw new KnownError(
        'METHOD_NOT_ALLOWED',
        `${path} takes POST: it is where SDKs send OTLP. Sessions are read from /api/sessions.`,
      )
    }
    const project = ingestProject(services, request)
    const limits = {
      maxBytes: services.config.maxBodyBytes,
      maxInflatedBytes: services.config.maxBodyBytes,
      budget: services.budget,
    }
    await withBody(request, limits, async (body) => {
      if (path.endsWith('/v1/traces/ingest')) return answerOpenAiAgents(services, project, body, response)
      const payload = { body, contentType: contentType(request) }
      if (path.endsWith('/v1/traces'))
        return answerTaken(response, 'traces', await takeTraces(services, project, payload))
      if (path.endsWith('/v1/logs'))
        return answerTaken(response, 'logs', await takeLogs(services, project, payload))
      // Metrics are taken and dropped: SDKs send them whether anyone wants them or not.
      send(response, 200, {
        contentType: contentType(request) || 'application/json',
        body: isJson(request) ? Buffer.from('{}') : Buffer.alloc(0),
      })
    })
  } catch (error) {
    answerIngestError(services, error, request, response)
  }
}

function answerTaken(response: ServerResponse, signal: ExportSignal, { format, rejected }: Taken): void {
  send(response, 200, encodeExportResponse(signal, format, rejected))
}

async function answerOpenAiAgents(
  services: Services,
  project: string,
  body: Buffer,
  response: ServerResponse,
): Promise<void> {
  while (services.targets.steps.isCrowded) await services.targets.steps.room()
  const { stored, rejected, durable } = takeOpenAiAgents(services, project, body)
  await durable
  services.counters.spansStored += stored
  services.counters.spansRejected += rejected.length
  send(response, 200, { contentType: 'application/json', body: Buffer.from(JSON.stringify({ rejected })) })
}

function takeOpenAiAgents(services: Services, project: string, body: Buffer) {
  const { spans, rejected } = decodeOpenAiAgents(body, BigInt(Date.now()) * 1_000_000n)
  return { stored: spans.length, rejected, durable: acceptSpans(project, spans, services.targets) }
}

function ingestProject(services: Services, request: IncomingMessage): string {
  const header = (name: string) => [request.headers[name]].flat()[0]
  const caller = identify(header, services)
  return authorize(caller, 'ingest', header('x-playhead-project') || undefined, services.registry)
}

type Answer = { status: number; headers: Record<string, string>; body: ErrorBody }

function answerIngestError(
  services: Services,
  error: unknown,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (response.headersSent || response.destroyed) return
  const { status, headers, body }: Answer =
    error instanceof KnownError ? answerError(error) : unexpected(services, error, request)
  if (error instanceof KnownError) services.counters.requestsRefused += 1
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  if (status === 405) response.setHeader('allow', 'POST, OPTIONS')
  if (contentType(request).includes('protobuf')) {
    return send(response, status, {
      contentType: 'application/x-protobuf',
      body: encodeStatus(body.error.message),
    })
  }
  // OTLP's own error shape beside ours: SDKs print `message`.
  const answer = { code: status === 503 ? 14 : 3, message: body.error.message, ...body }
  send(response, status, { contentType: 'application/json', body: Buffer.from(JSON.stringify(answer)) })
}

function unexpected(services: Services, error: unknown, request: IncomingMessage): Answer {
  services.counters.failures += 1
  services.report(
    `a request to ${request.url} failed: ${error instanceof Error ? error.stack : String(error)}`,
  )
  const message = 'The server failed; its output says why. Nothing of this batch was acknowledged.'
  return { status: 500, headers: {}, body: { error: { code: 'INTERNAL', message } } }
}

function send(response: ServerResponse, status: number, answer: { contentType: string; body: Buffer }): void {
  response.writeHead(status, { 'content-type': answer.contentType, 'content-length': answer.body.length })
  response.end(answer.body)
}

/** Pages that the guard let through (the developer's own, on loopback) may read the answer. */
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

function isJson(request: IncomingMessage): boolean {
  return contentType(request).includes('json')
}
