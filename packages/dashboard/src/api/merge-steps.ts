import type { SessionSummary, Step } from '@playhead/model'
import type { LoadedSession } from './session-source.ts'

/**
 * Merges live events into a session. A step that has ended stays as it is: a start that arrives late is outdated, and what
 * a later copy adds comes with the next request. Live steps are sent before the whole session is known, so their offsets are computed
 * again here.
 */
export function mergeSteps(
  { session, steps, ...rest }: LoadedSession,
  update: { steps: readonly Step[]; session?: SessionSummary | undefined },
): LoadedSession {
  if (update.steps.length === 0) return { ...rest, session: update.session ?? session, steps }
  const positions = new Map(steps.map((step, position) => [step.id, position]))
  const merged = [...steps]
  let isSorted = true
  for (const step of update.steps) {
    const placed = placeInTime(step, session)
    const position = positions.get(step.id)
    if (position === undefined) {
      if (placed.offsetMs < (merged.at(-1)?.offsetMs ?? 0)) isSorted = false
      positions.set(step.id, merged.length)
      merged.push(placed)
    } else if (merged[position]!.durationMs === null) {
      merged[position] = placed
    }
  }
  if (!isSorted) merged.sort((left, right) => left.offsetMs - right.offsetMs)
  return { ...rest, session: update.session ?? { ...session, stepCount: merged.length }, steps: merged }
}

/** Live steps may be sent before the session's start is known. */
function placeInTime(step: Step, session: SessionSummary): Step {
  const offsetMs = Date.parse(step.startedAt) - Date.parse(session.startedAt)
  if (!Number.isFinite(offsetMs) || Math.abs(offsetMs - step.offsetMs) <= 1) return step
  return { ...step, offsetMs: Math.max(0, offsetMs) }
}
