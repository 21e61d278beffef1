import { agentOpsLogToRecords } from '@playhead/model'
import type { Context } from 'hono'
import { KnownError } from '../errors/known-error.ts'
import type { App } from '../access/request-project.ts'
import { baseUrl } from '../api/session-routes.ts'
import { MAX_ITEM_BYTES } from '../ingest/limits.ts'
import type { Services } from '../process/services.ts'
import { acceptAgentOps } from './accept-agentops.ts'
import { agentOpsCaller } from './agentops-caller.ts'
import { answerAgentOps, headerOf, parseBody, withAgentOpsBody } from './answer-agentops.ts'
import { MAX_OBJECT_BYTES } from '../store/uploaded-objects.ts'

/** What was printed while a session ran, and objects too large for an attribute. */
export function addUploadRoutes(app: App, services: Services): void {
  const uploadLog = answerAgentOps(services, async (context) => {
    const { project } = agentOpsCaller(headerOf(context), 'ingest', services)
    const sessionId = traceIdOf(context.req.header('trace-id'))
    if (sessionId === undefined)
      throw new KnownError('BAD_REQUEST', 'The header Trace-Id must be a trace id, in hex or as a number.')
    return withAgentOpsBody(context, services, async (body) => {
      const text = uploadedText(body)
      refuseLength('text', Buffer.byteLength(text), MAX_ITEM_BYTES)
      const receivedAtNs = BigInt(Date.now()) * 1_000_000n
      const logs = agentOpsLogToRecords(text, { sessionId, receivedAtNs })
      await acceptAgentOps(project, { spans: [], logs }, services)
      const url = `${baseUrl(context, services.config)}/v4/logs/${sessionId}`
      return context.json({ url, size: Buffer.byteLength(text) })
    })
  })
  app.post('/v4/logs/upload', uploadLog)
  app.post('/v4/logs/upload/', uploadLog)
  app.get('/v4/logs/:id', answerAgentOps(services, readLog(services)))
  const uploadObject = answerAgentOps(services, async (context) => {
    const { project } = agentOpsCaller(headerOf(context), 'ingest', services)
    return withAgentOpsBody(context, services, async (body) => {
      const content = Buffer.from(uploadedText(body))
      refuseLength('object', content.length, MAX_OBJECT_BYTES)
      const name = await services.objects.keep(project, content)
      return context.json({
        url: `${baseUrl(context, services.config)}/v4/objects/${name}`,
        size: content.length,
      })
    })
  })
  app.post('/v4/objects/upload', uploadObject)
  app.post('/v4/objects/upload/', uploadObject)
  app.get('/v4/objects/:name', answerAgentOps(services, readObject(services)))
}

/** Python writes the 128 bits of a trace id as a decimal number. */
export function traceIdOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  if (/^[0-9a-f]{32}$/i.test(text)) return text.toLowerCase()
  if (!/^\d{1,39}$/.test(text)) return undefined
  const hex = BigInt(text).toString(16).padStart(32, '0')
  return hex.length === 32 ? hex : undefined
}

/** `{"body": "…"}` from 0.4.19 on, a JSON string before that. */
function uploadedText(body: Buffer): string {
  const value = parseBody(body)
  const text = typeof value === 'string' ? value : (value as { body?: unknown } | null)?.body
  if (typeof text === 'string') return text
  throw new KnownError('BAD_REQUEST', 'The body must be {"body": "the text"}.')
}

function readLog(services: Services) {
  return async (context: Context) => {
    const { project } = agentOpsCaller(headerOf(context), 'read', services)
    const typed = context.req.param('id') ?? ''
    const { session, steps } = await services.reader.readSession(project, traceIdOf(typed) ?? typed, 'none')
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

function refuseLength(what: string, bytes: number, maxBytes: number): void {
  if (bytes <= maxBytes) return
  throw new KnownError(
    'BODY_TOO_LARGE',
    `The ${what} has ${bytes} bytes; ${maxBytes} are the most that is taken.`,
  )
}

function readObject(services: Services) {
  return async (context: Context) => {
    const { project } = agentOpsCaller(headerOf(context), 'read', services)
    const name = context.req.param('name') ?? ''
    const content = await services.objects.read({ project, name })
    if (content === undefined) throw new KnownError('NOT_FOUND', `There is no object ${name.slice(0, 80)}.`)
    // Whoever sent it chose what is in it: nothing of it may run in a page of ours.
    return context.body(new Uint8Array(content), 200, {
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment',
      'x-content-type-options': 'nosniff',
    })
  }
}
