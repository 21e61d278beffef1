import { agentOpsAgentToSpan, agentOpsLogToRecords, agentOpsSessionId } from '@playhead/model'
import type { Context } from 'hono'
import { KnownError } from '../errors/known-error.ts'
import type { App } from '../access/request-project.ts'
import { sessionUrl } from '../api/session-routes.ts'
import type { Services } from '../process/services.ts'
import { asStoreError } from '../store/store-error.ts'
import { acceptAgentOps } from './accept-agentops.ts'
import { agentOpsCaller, writeSessionToken, type AgentOpsCaller } from './agentops-caller.ts'
import { answerAgentOps, headerOf, readJsonObject, withAgentOpsBody } from './answer-agentops.ts'
import { decodeEvents, decodeSession } from './decode-v2.ts'

type Body = Record<string, unknown>

type Answer = (request: { context: Context; caller: AgentOpsCaller; body: Body }) => Promise<Response>

/** The API that AgentOps' Python SDK 0.2 and 0.3 speaks. Each answer is JSON: these SDKs parse before they look at the status. */
export function addV2Routes(app: App, services: Services): void {
  const route = (path: string, answer: Answer) => {
    app.on(['POST', 'PUT'], `/v2/${path}`, answerAgentOps(services, answerBody(services, answer)))
  }
  route('create_session', async ({ context, caller: { project, key }, body }) => {
    const root = decodeSession(body, now())
    await acceptAgentOps(project, { spans: [root], logs: [] }, services)
    return context.json({
      status: 'Success',
      jwt: writeSessionToken(key, uuidOf(root.traceId)),
      session_url: sessionUrl(context, { id: root.traceId, project }, services),
    })
  })
  route('update_session', async ({ context, caller: { project }, body }) => {
    const root = decodeSession(body, now())
    await acceptAgentOps(project, { spans: [root], logs: [] }, services)
    const cost = await costOf(project, root.traceId, services)
    return context.json({
      status: 'success',
      token_cost: cost === undefined ? 'unknown' : String(cost),
      session_url: sessionUrl(context, { id: root.traceId, project }, services),
    })
  })
  route('create_events', answerEvents(services))
  route('update_events', answerEvents(services))
  route('create_agent', async ({ context, caller, body }) => {
    const sessionId = sessionOf(caller, body)
    const { id, name } = body
    if (typeof id !== 'string' || id === '')
      throw new KnownError('BAD_REQUEST', 'An agent must have an "id".')
    const agent = agentOpsAgentToSpan(sessionId, { id, ...(typeof name === 'string' && { name }) })
    await acceptAgentOps(caller.project, { spans: [agent], logs: [] }, services)
    return context.json('Success')
  })
  // A thread has nothing of its own: what was said in it comes with its events.
  route('create_thread', async ({ context }) => context.json('Success'))
  route('reauthorize_jwt', async ({ context, caller, body }) => {
    const sessionId = sessionOf(caller, body)
    const jwt = writeSessionToken(caller.key, uuidOf(sessionId))
    return context.json({ status: 'Success', jwt })
  })
  route('update_logs', async ({ context, caller, body }) => {
    const sessionId = sessionOf(caller, body)
    const text = typeof body.logs === 'string' ? body.logs : JSON.stringify(body.logs ?? '')
    const logs = agentOpsLogToRecords(text, { sessionId, receivedAtNs: now() })
    await acceptAgentOps(caller.project, { spans: [], logs }, services)
    const url = sessionUrl(context, { id: sessionId, project: caller.project }, services)
    return context.json({ status: 'success', logs_url: url })
  })
  // What goes wrong inside an SDK is its makers' business; it must not hear an error for saying so.
  route('developer_errors', async ({ context }) => context.json('Success'))
}

function answerBody(services: Services, answer: Answer) {
  return async (context: Context) => {
    const caller = agentOpsCaller(headerOf(context), 'ingest', services)
    return withAgentOpsBody(context, services, (body) =>
      answer({ context, caller, body: readJsonObject(body) }),
    )
  }
}

function answerEvents(services: Services): Answer {
  return async ({ context, caller: { project, sessionId }, body }) => {
    const { items, rejected } = decodeEvents(body, { sessionId, receivedAtNs: now() })
    await acceptAgentOps(project, items, services)
    services.counters.spansRejected += rejected.length
    return context.json(rejected.length === 0 ? 'Success' : { status: 'Success', rejected })
  }
}

/** The session that a request is about: the one of its token, else the one it names. */
function sessionOf(caller: AgentOpsCaller, body: Body): string {
  const sessionId = caller.sessionId ?? agentOpsSessionId(body.session_id)
  if (sessionId !== undefined) return sessionId
  throw new KnownError(
    'BAD_REQUEST',
    'The token names no session. Send the "jwt" that /v2/create_session answered with, or a "session_id".',
  )
}

/** Undefined when nothing could be priced, or when the store does not answer: what was sent is safe all the same. */
async function costOf(project: string, sessionId: string, services: Services): Promise<number | undefined> {
  try {
    return (await services.reader.readSummary(project, sessionId)).cost ?? undefined
  } catch (error) {
    if (error instanceof KnownError || (error instanceof Error && asStoreError(error) !== undefined))
      return undefined
    throw error
  }
}

function uuidOf(sessionId: string): string {
  return sessionId.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function now(): bigint {
  return BigInt(Date.now()) * 1_000_000n
}
