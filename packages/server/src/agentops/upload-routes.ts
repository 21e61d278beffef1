import { agentOpsLogToRecords } from '@playhead/model'
import type { Context, Hono } from 'hono'
import { originOf, type Site } from '../access/addresses.ts'
import type { Gate } from '../access/caller.ts'
import { KnownError } from '../errors/known-error.ts'
import type { IngestPipeline } from '../ingest/ingest-batch.ts'
import { MAX_ITEM_BYTES } from '../ingest/limits.ts'
import type { SessionReader } from '../sessions/session-reader.ts'
import { MAX_OBJECT_BYTES, type UploadedObjects } from '../store/uploaded-objects.ts'
import { agentOpsCaller } from './agentops-caller.ts'
import { bodyOf, headerOf, parseBody, traceIdOf } from './agentops-request.ts'
import { ingestAgentOps } from './ingest-agentops.ts'

export type UploadServices = {
  gate: Gate
  site: Site
  pipeline: IngestPipeline
  reader: SessionReader
  objects: UploadedObjects
}

/** What a session printed, and objects too large for an attribute. */
export function addUploadRoutes(app: Hono, services: UploadServices): void {
  const { gate, site, pipeline, reader, objects } = services
  const uploadLog = async (context: Context) => {
    const { project } = agentOpsCaller(headerOf(context), 'ingest', gate)
    const sessionId = traceIdOf(context.req.header('trace-id'))
    if (sessionId === undefined)
      throw new KnownError('BAD_REQUEST', 'The header Trace-Id must be a trace id, in hex or as a number.')
    const text = uploadedText(bodyOf(context))
    const size = Buffer.byteLength(text)
    checkSize('text', size, MAX_ITEM_BYTES)
    const receivedAtNs = BigInt(Date.now()) * 1_000_000n
    await ingestAgentOps(pipeline, project, {
      logs: agentOpsLogToRecords(text, { sessionId, receivedAtNs }),
    })
    return context.json({ url: `${originOf(context.req.url, site)}/v4/logs/${sessionId}`, size })
  }
  const uploadObject = async (context: Context) => {
    const { project } = agentOpsCaller(headerOf(context), 'ingest', gate)
    const content = Buffer.from(uploadedText(bodyOf(context)))
    checkSize('object', content.length, MAX_OBJECT_BYTES)
    const name = await objects.keep(project, content)
    return context.json({
      url: `${originOf(context.req.url, site)}/v4/objects/${name}`,
      size: content.length,
    })
  }
  app.post('/v4/logs/upload', uploadLog)
  app.post('/v4/logs/upload/', uploadLog)
  app.get('/v4/logs/:id', readLog(gate, reader))
  app.post('/v4/objects/upload', uploadObject)
  app.post('/v4/objects/upload/', uploadObject)
  app.get('/v4/objects/:name', readObject(gate, objects))
}

/** `{"body": "…"}` from 0.4.19 on, a JSON string before that. */
function uploadedText(body: Buffer): string {
  const value = parseBody(body)
  const text = typeof value === 'string' ? value : (value as { body?: unknown } | null)?.body
  if (typeof text === 'string') return text
  throw new KnownError('BAD_REQUEST', 'The body must be {"body": "the text"}.')
}

function readLog(gate: Gate, reader: SessionReader) {
  return async (context: Context) => {
    const { project } = agentOpsCaller(headerOf(context), 'read', gate)
    const typed = context.req.param('id') ?? ''
    const { session, steps } = await reader.readSession(project, traceIdOf(typed) ?? typed, 'none')
    const lines = steps
      .flatMap((step) => step.logs ?? [])
      .sort((left, right) => left.offsetMs - right.offsetMs)
      .map(({ at, severity, body }) => `${at} - ${severity.toUpperCase()} - ${textOf(body)}`)
    return context.json({ content: lines.join('\n'), trace_id: session.id, freeplan_truncated: false })
  }
}

function textOf(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body)
}

function checkSize(what: string, bytes: number, maxBytes: number): void {
  if (bytes <= maxBytes) return
  throw new KnownError('BODY_TOO_LARGE', `The ${what} has ${bytes} bytes; the limit is ${maxBytes}.`)
}

function readObject(gate: Gate, objects: UploadedObjects) {
  return async (context: Context) => {
    const { project } = agentOpsCaller(headerOf(context), 'read', gate)
    const name = context.req.param('name') ?? ''
    const content = await objects.read({ project, name })
    if (content === undefined) throw new KnownError('NOT_FOUND', `There is no object ${name.slice(0, 80)}.`)
    // Untrusted content: it must not run in a page of ours.
    return context.body(new Uint8Array(content), 200, {
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment',
      'x-content-type-options': 'nosniff',
    })
  }
}
