import type { Step } from '@playhead/model'
import { ownsError, positionAt, type Timeline } from './timeline.ts'
import type { PlayerStart } from './player.ts'

/** Where the page opens: where a link says, at the end of what still runs, on the failure, else at the start. */
export function openingOf(timeline: Timeline, link: { step?: string; t?: number }): PlayerStart {
  const linked = link.step === undefined ? undefined : timeline.positionOf.get(link.step)
  if (linked !== undefined)
    return { stepId: timeline.steps[linked]!.id, positionMs: link.t ?? timeline.startsMs[linked]! }
  if (link.t !== undefined)
    return { positionMs: Math.min(link.t, timeline.durationMs), ...stepUnder(timeline, link.t) }
  if (timeline.session.endState === 'running') return { isFollowing: true }
  const failure = findFailure(timeline)
  if (failure === undefined) return {}
  return { stepId: failure.id, positionMs: timeline.startsMs[timeline.positionOf.get(failure.id)!]! }
}

/** The step whose error ended the session: the last that nothing handled. A session that succeeded has none. */
export function findFailure({ steps, errors, session }: Timeline): Step | undefined {
  if (session.endState === 'success') return undefined
  const failed = errors.map((position) => steps[position]!).filter(ownsError)
  const fatal = failed.filter((step) => step.error?.isHandled !== true)
  const last = fatal.reduce<Step | undefined>(
    (latest, step) => (latest === undefined || endOf(step) >= endOf(latest) ? step : latest),
    undefined,
  )
  return last ?? (session.endState === 'fail' ? failed.at(-1) : undefined)
}

function endOf(step: Step): number {
  return step.offsetMs + (step.durationMs ?? 0)
}

function stepUnder(timeline: Timeline, timeMs: number): { stepId?: string } {
  const step = timeline.steps[Math.max(0, positionAt(timeline, timeMs))]
  return step === undefined ? {} : { stepId: step.id }
}
