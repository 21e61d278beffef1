import type { SessionSummary } from '../src/session/session.ts'

const STARTED_AT_MS = 1_700_000_000_000

/** The summary of an ordinary session with the given fields. */
export function makeSummary(session: Partial<SessionSummary> = {}): SessionSummary {
  return {
    id: 'a'.repeat(32),
    name: 'a session',
    endState: 'success',
    startedAt: new Date(STARTED_AT_MS).toISOString(),
    endedAt: null,
    durationMs: null,
    tags: [],
    usage: {},
    cost: null,
    unpricedModels: [],
    stepCount: 0,
    llmCallCount: 0,
    actionCount: 0,
    errorCount: 0,
    models: [],
    agents: [],
    tools: [],
    demo: false,
    ...session,
  }
}
