import type { Session, SessionSummary, Step } from '@playhead/model'
import { makeSummary } from '../../model/test/make-summary.ts'
import { createTimeline, type Timeline } from '../src/replay-page/playback/timeline.ts'

const STARTED_AT_MS = 1_700_000_000_000

/** A step with ordinary defaults. */
export function makeStep(step: StepOptions): Step {
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

type StepOptions = Partial<Step> & { id: string }

export function makeSession(steps: readonly StepOptions[], session: Partial<SessionSummary> = {}): Session {
  return { session: makeSummary({ stepCount: steps.length, ...session }), steps: steps.map(makeStep) }
}

export function makeTimeline(steps: readonly StepOptions[], session: Partial<SessionSummary> = {}): Timeline {
  const made = makeSession(steps, session)
  return createTimeline(made.session, made.steps)
}
