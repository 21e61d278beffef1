import { agentOpsSessionId, describeEndState, type SessionSummary, type Step } from '@playhead/model'
import type { Context, Hono } from 'hono'
import { KnownError } from '../errors/known-error.ts'
import { originOf, sessionUrl, type Site } from '../access/addresses.ts'
import type { Gate } from '../access/caller.ts'
import type { SessionReader } from '../sessions/session-reader.ts'
import { agentOpsCaller } from './agentops-caller.ts'
import { headerOf } from './agentops-request.ts'

type ReadServices = { gate: Gate; site: Site; reader: SessionReader }

/** Reads a session in the format of the v2 API. */
export function addSessionDataRoutes(app: Hono, services: ReadServices): void {
  app.get('/v2/sessions/:id/stats', readStats(services))
  app.get('/v2/sessions/:id/export', readExport(services))
}

function readStats(services: ReadServices) {
  return async (context: Context) => {
    const { session, steps } = await readNamed(context, services, 'none')
    return context.json({
      session_id: context.req.param('id'),
      // Null, not 0, if the session could not be priced.
      cost: session.cost === null ? null : String(session.cost),
      events: steps.filter(isEvent).length,
      prompt_tokens: session.usage.input ?? null,
      completion_tokens: session.usage.output ?? null,
      errors: session.errorCount,
    })
  }
}

function readExport(services: ReadServices) {
  return async (context: Context) => {
    const { session, steps, project } = await readNamed(context, services, 'all')
    const ofType = (type: string) => steps.filter((step) => typeOf(step) === type).map(presentEvent)
    const url = sessionUrl(originOf(context.req.url, services.site), { id: session.id, project })
    return context.json({
      session: presentSession(session, url),
      actions: ofType('actions'),
      llms: ofType('llms'),
      tools: ofType('tools'),
      errors: steps.filter((step) => step.error !== undefined).map(presentFailure),
    })
  }
}

async function readNamed(context: Context, { gate, reader }: ReadServices, payloads: 'all' | 'none') {
  const { project } = agentOpsCaller(headerOf(context), 'read', gate)
  const id = agentOpsSessionId(context.req.param('id'))
  if (id === undefined) throw new KnownError('BAD_REQUEST', 'The path names no session.')
  return { ...(await reader.readSession(project, id, payloads)), project }
}

/** Sessions of other SDKs have no AgentOps event types: their actions count as tools. */
function typeOf({ kind, attributes }: Step): string | undefined {
  const type = attributes?.['agentops.event.type']
  if (typeof type === 'string') return type
  if (kind === 'llm') return 'llms'
  return kind === 'action' ? 'tools' : undefined
}

function isEvent({ kind }: Step): boolean {
  return kind === 'llm' || kind === 'action' || kind === 'event'
}

function presentSession(session: SessionSummary, url: string) {
  return {
    session_id: session.id,
    init_timestamp: session.startedAt,
    end_timestamp: session.endedAt,
    end_state: describeEndState(session.endState),
    end_state_reason: session.endStateReason ?? null,
    tags: session.tags,
    token_cost: session.cost === null ? null : String(session.cost),
    session_url: url,
  }
}

function presentEvent(step: Step) {
  return {
    id: step.id,
    name: step.name,
    init_timestamp: step.startedAt,
    end_timestamp: step.endedAt,
    agent: step.agent ?? null,
    ...(step.kind === 'llm'
      ? {
          model: step.model ?? null,
          messages: step.messages ?? [],
          prompt_tokens: step.usage?.input ?? null,
          completion_tokens: step.usage?.output ?? null,
          cost: step.cost,
        }
      : { params: step.tool?.arguments ?? null, returns: step.tool?.result ?? null }),
  }
}

function presentFailure(step: Step) {
  return {
    id: step.id,
    name: step.name,
    timestamp: step.endedAt ?? step.startedAt,
    error_type: step.error?.type,
    details: step.error?.message,
    logs: step.error?.stack ?? null,
  }
}
