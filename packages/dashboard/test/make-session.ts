import type { Step, SessionSummary } from '@playhead/model'
import { makeSummary } from '../../model/test/make-summary.ts'
import { createTimeline, type Timeline } from '../src/replay-page/playback/timeline.ts'

const STARTED_AT_MS = 1_700_000_000_000

/** A step for a test: what it does not say is ordinary. */
export function makeStep(step: Partial<Step> & { id: string }): Step {
  const offsetMs = step.offsetMs ?? 0
  const durationMs = step.durationMs === undefined ? 10 : step.durationMs
  return {
    parentId: null,
    kind: 'action',
    name: step.id,
    startedAt: new Date(STARTED_AT_MS + offsetMs).toISOString(),
    endedAt: durationMs === null ? null : new Date(STARTED_AT_MS + offsetMs + durationMs).toISOString(),
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
  return createTimeline(makeSummary({ stepCount: steps.length, ...session }), steps.map(makeStep))
}
