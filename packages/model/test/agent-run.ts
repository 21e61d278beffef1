import type { EndState } from '../src/session/end-state.ts'
import type { Message, Part, ToolDefinition } from '../src/session/message.ts'
import type { Session, SessionSummary } from '../src/session/session.ts'
import type { Step } from '../src/session/step.ts'
import { SESSION_START } from './outline.ts'

/** What happens in a run, in order. */
type Event = (at: { position: number; request: string }) => Partial<Step> & Pick<Step, 'id' | 'kind' | 'name'>

/** A model's turn: what it says, and the tools it calls. */
export function says(text: string, calls: Record<string, unknown> = {}, more: Partial<Step> = {}): Event {
  return ({ position, request }) => {
    const parts: Part[] = text === '' ? [] : [{ type: 'text', text }]
    for (const [name, given] of Object.entries(calls))
      parts.push({ type: 'tool-call', name, arguments: given })
    const messages: Message[] = [
      { role: 'user', parts: [{ type: 'text', text: request }] },
      { role: 'assistant', isOutput: true, parts },
    ]
    return { id: `s${position}`, kind: 'llm', name: 'chat', agent: 'assistant', messages, ...more }
  }
}

/** An action and its result. */
export function does(name: string, given: unknown, result: unknown, more: Partial<Step> = {}): Event {
  return ({ position }) => ({
    id: `s${position}`,
    kind: 'action',
    name,
    tool: { name, arguments: given, result },
    ...more,
  })
}

/** An action that failed. */
export function fails(name: string, given: unknown, message: string, more: Partial<Step> = {}): Event {
  return ({ position }) => ({
    id: `s${position}`,
    kind: 'action',
    name,
    tool: { name, arguments: given },
    status: 'error',
    error: { type: 'Error', message },
    ...more,
  })
}

/** What the user says in between. */
export function user(text: string): Event {
  return ({ position }) => ({
    id: `s${position}`,
    kind: 'agent',
    name: 'user',
    agent: 'user',
    messages: [{ role: 'assistant', isOutput: true, parts: [{ type: 'text', text }] }],
  })
}

/** Tools that a model is offered. */
export function offers(...names: string[]): { toolDefinitions: ToolDefinition[] } {
  return { toolDefinitions: names.map((name) => ({ name })) }
}

type RunOptions = {
  endState?: EndState
  request?: string
  session?: Partial<SessionSummary>
}

/** A session of these events. The id of the first is `s0`; its number is 1. */
export function agentRun(events: readonly Event[], options: RunOptions = {}): Session {
  const { endState = 'success', request = 'Please help me with my order' } = options
  const steps = events.map((event, position): Step => ({
    parentId: null,
    startedAt: new Date(SESSION_START + position * 100).toISOString(),
    endedAt: new Date(SESSION_START + position * 100 + 50).toISOString(),
    offsetMs: position * 100,
    durationMs: 50,
    status: 'ok',
    hasPayload: true,
    cost: null,
    dialect: 'test',
    ...event({ position, request }),
  }))
  const session: SessionSummary = {
    id: 'abc12345'.padEnd(32, '0'),
    name: 'agent',
    endState,
    startedAt: steps[0]?.startedAt ?? '',
    endedAt: steps.at(-1)?.endedAt ?? null,
    durationMs: steps.length * 100,
    tags: [],
    usage: {},
    cost: null,
    unpricedModels: [],
    stepCount: steps.length,
    llmCallCount: 0,
    actionCount: 0,
    errorCount: 0,
    models: [],
    agents: [],
    tools: [],
    demo: false,
    ...options.session,
  }
  return { session, steps }
}
