import type { SessionSummary, Step } from '@playhead/model'
import { createTimeline, type Timeline } from './timeline.ts'

/** A step for a test: what it does not say is ordinary. */
export function makeStep(step: Partial<Step> & { id: string }): Step {
  const offsetMs = step.offsetMs ?? 0
  const durationMs = step.durationMs === undefined ? 10 : step.durationMs
  return {
    parentId: null,
    kind: 'action',
    name: step.id,
    startedAt: new Date(1_700_000_000_000 + offsetMs).toISOString(),
    endedAt: durationMs === null ? null : new Date(1_700_000_000_000 + offsetMs + durationMs).toISOString(),
    status: durationMs === null ? 'running' : 'ok',
    hasPayload: false,
    cost: null,
    dialect: 'playhead',
    ...step,
    offsetMs,
    durationMs,
  }
}

export function makeTimeline(
  steps: readonly (Partial<Step> & { id: string })[],
  session: Partial<SessionSummary> = {},
): Timeline {
  return createTimeline(
    {
      id: 'a'.repeat(32),
      name: 'a session',
      endState: 'success',
      startedAt: new Date(1_700_000_000_000).toISOString(),
      endedAt: null,
      durationMs: null,
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
      ...session,
    },
    steps.map(makeStep),
  )
}
