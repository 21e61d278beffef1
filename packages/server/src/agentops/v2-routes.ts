import { agentOpsAgentToSpan, agentOpsLogToRecords, agentOpsSessionId } from '@playhead/model'
import type { Context, Hono } from 'hono'
import { originOf, sessionUrl, type Site } from '../access/addresses.ts'
import type { Gate } from '../access/caller.ts'
import { KnownError } from '../errors/known-error.ts'
import type { IngestPipeline } from '../ingest/ingest-batch.ts'
import type { SessionReader } from '../sessions/session-reader.ts'
import { asStoreError } from '../store/store-error.ts'
import { agentOpsCaller, writeSessionToken, type AgentOpsCaller } from './agentops-caller.ts'
import { bodyOf, headerOf, readJsonObject } from './agentops-request.ts'
import { decodeEvents, decodeSession, ingestAgentOps } from './ingest-agentops.ts'

type V2Services = {
  gate: Gate
  site: Site
  pipeline: IngestPipeline
  reader: SessionReader
}

type Body = Record<string, unknown>
type V2Request = { context: Context; caller: AgentOpsCaller; body: Body }

/**
 * The API of AgentOps' Python SDK 0.2 and 0.3. Every response is JSON: these SDKs parse it before they look at the
 * status.
 */
export function addV2Routes(app: Hono, { gate, site, pipeline, reader }: V2Services): void {
  const route = (path: string, handle: (request: V2Request) => Promise<Response>) =>
    app.on(['POST', 'PUT'], `/v2/${path}`, (context: Context) => {
      const caller = agentOpsCaller(headerOf(context), 'ingest', gate)
      return handle({ context, caller, body: readJsonObject(bodyOf(context)) })
    })
  const urlOf = (context: Context, id: string, project: string) =>
    sessionUrl(originOf(context.req.url, site), { id, project })
  const ingestEvents = async ({ context, caller: { project, sessionId }, body }: V2Request) => {
    const events = decodeEvents(body, { sessionId, receivedAtNs: nowNs() })
    await ingestAgentOps(pipeline, project, events)
    const { rejected } = events
    return context.json(rejected.length === 0 ? 'Success' : { status: 'Success', rejected })
  }
  route('create_session', async ({ context, caller: { project, key }, body }) => {
    const root = decodeSession(body, nowNs())
    await ingestAgentOps(pipeline, project, { spans: [root] })
    const jwt = writeSessionToken(key, uuidOf(root.traceId))
    return context.json({ status: 'Success', jwt, session_url: urlOf(context, root.traceId, project) })
  })
  route('update_session', async ({ context, caller: { project }, body }) => {
    const root = decodeSession(body, nowNs())
    await ingestAgentOps(pipeline, project, { spans: [root] })
    const cost = await costOf(reader, project, root.traceId)
    return context.json({
      status: 'success',
      token_cost: cost === undefined ? 'unknown' : String(cost),
      session_url: urlOf(context, root.traceId, project),
    })
  })
  route('create_events', ingestEvents)
  route('update_events', ingestEvents)
  route('create_agent', async ({ context, caller, body }) => {
    const sessionId = sessionOf(caller, body)
    const { id, name } = body
    if (typeof id !== 'string' || id === '')
      throw new KnownError('BAD_REQUEST', 'An agent must have an "id".')
    const agent = agentOpsAgentToSpan(sessionId, { id, ...(typeof name === 'string' && { name }) })
    await ingestAgentOps(pipeline, caller.project, { spans: [agent] })
    return context.json('Success')
  })
  // A thread has no data of its own: its messages arrive as events.
  route('create_thread', async ({ context }) => context.json('Success'))
  route('reauthorize_jwt', async ({ context, caller, body }) => {
    const jwt = writeSessionToken(caller.key, uuidOf(sessionOf(caller, body)))
    return context.json({ status: 'Success', jwt })
  })
  route('update_logs', async ({ context, caller, body }) => {
    const sessionId = sessionOf(caller, body)
    const text = typeof body.logs === 'string' ? body.logs : JSON.stringify(body.logs ?? '')
    const logs = agentOpsLogToRecords(text, { sessionId, receivedAtNs: nowNs() })
    await ingestAgentOps(pipeline, caller.project, { logs })
    return context.json({ status: 'success', logs_url: urlOf(context, sessionId, caller.project) })
  })
  // SDKs report their own bugs to AgentOps here.
  route('developer_errors', async ({ context }) => context.json('Success'))
}

/** The session of the token, else the one that the body names. */
function sessionOf(caller: AgentOpsCaller, body: Body): string {
  const sessionId = caller.sessionId ?? agentOpsSessionId(body.session_id)
  if (sessionId !== undefined) return sessionId
  throw new KnownError(
    'BAD_REQUEST',
    'The token names no session. Send the "jwt" from /v2/create_session, or a "session_id".',
  )
}

/** Undefined if no call could be priced, or if the store is unavailable: the request itself has succeeded. */
async function costOf(
  reader: SessionReader,
  project: string,
  sessionId: string,
): Promise<number | undefined> {
  try {
    return (await reader.readSummary(project, sessionId)).cost ?? undefined
  } catch (error) {
    if (error instanceof KnownError || (error instanceof Error && asStoreError(error) !== undefined))
      return undefined
    throw error
  }
}

function uuidOf(sessionId: string): string {
  return sessionId.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function nowNs(): bigint {
  return BigInt(Date.now()) * 1_000_000n
}
