import type { SessionSummary, Step } from '@playhead/model'
import { makeSummary } from '../../../../model/test/make-summary.ts'
import { makeStep } from '../../api/test-session.ts'
import { createTimeline, type Timeline } from './timeline.ts'

export function makeTimeline(
  steps: readonly (Partial<Step> & { id: string })[],
  session: Partial<SessionSummary> = {},
): Timeline {
  return createTimeline(makeSummary({ stepCount: steps.length, ...session }), steps.map(makeStep))
}
