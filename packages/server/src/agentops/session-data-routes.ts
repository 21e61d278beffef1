import { agentOpsSessionId, describeEndState, type SessionSummary, type Step } from '@playhead/model'
import type { Context } from 'hono'
import { KnownError } from '../errors/known-error.ts'
import type { App } from '../access/request-project.ts'
import { sessionUrl } from '../api/session-routes.ts'
import type { Services } from '../process/services.ts'
import { agentOpsCaller } from './agentops-caller.ts'
import { answerAgentOps, headerOf } from './answer-agentops.ts'

/** Reading a session back in the words of the v2 API. */
export function addSessionDataRoutes(app: App, services: Services): void {
  app.get('/v2/sessions/:id/stats', answerAgentOps(services, readStats(services)))
  app.get('/v2/sessions/:id/export', answerAgentOps(services, readExport(services)))
}

function readStats(services: Services) {
  return async (context: Context) => {
    const { session, steps } = await readNamed(context, services, 'none')
    return context.json({
      session_id: context.req.param('id'),
      // A session that could not be priced has no cost, rather than none to pay.
      cost: session.cost === null ? null : String(session.cost),
      events: steps.filter(isEvent).length,
      prompt_tokens: session.usage.input ?? null,
      completion_tokens: session.usage.output ?? null,
      errors: session.errorCount,
    })
  }
}

function readExport(services: Services) {
  return async (context: Context) => {
    const { session, steps, project } = await readNamed(context, services, 'all')
    const ofType = (type: string) => steps.filter((step) => typeOf(step) === type).map(presentEvent)
    return context.json({
      session: presentSession(session, sessionUrl(context, { id: session.id, project }, services)),
      actions: ofType('actions'),
      llms: ofType('llms'),
      tools: ofType('tools'),
      errors: steps.filter((step) => step.error !== undefined).map(presentFailure),
    })
  }
}

async function readNamed(context: Context, services: Services, payloads: 'all' | 'none') {
  const { project } = agentOpsCaller(headerOf(context), 'read', services)
  const id = agentOpsSessionId(context.req.param('id'))
  if (id === undefined) throw new KnownError('BAD_REQUEST', 'The path names no session.')
  return { ...(await services.reader.readSession(project, id, payloads)), project }
}

/** Sessions of other SDKs have no such types: their actions are tools. */
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
