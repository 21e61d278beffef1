import { fromSkeleton, type StepSkeleton } from '@playhead/model'
import type { LoadedSession } from './session-source.ts'

/** A session with all its steps, some of which may have come in its skeleton. */
export function expandSession({
  skeleton,
  ...session
}: LoadedSession & { skeleton?: StepSkeleton }): LoadedSession {
  return skeleton === undefined ? session : { ...session, steps: fromSkeleton(skeleton, session.steps) }
}
