import { endOffsetMs, hasFailed, ownsError, type Step, type StepError } from '@playhead/model'
import type { Timeline } from './timeline.ts'

/** The step whose error ended the session: the last unhandled one. Undefined for a session that succeeded. */
export function findFailure({ steps, errors, session }: Timeline): Step | undefined {
  if (session.endState === 'success') return undefined
  const failed = errors.map((position) => steps[position]!).filter(ownsError)
  const fatal = failed.filter((step) => step.error?.isHandled !== true)
  const last = fatal.reduce<Step | undefined>(
    (latest, step) => (latest === undefined || endOffsetMs(step) >= endOffsetMs(latest) ? step : latest),
    undefined,
  )
  return last ?? (session.endState === 'fail' ? failed.at(-1) : undefined)
}

export type ErrorPath = {
  /** The step that the error came from. */
  owner: number
  /** The ancestors that passed it on, innermost first. */
  passedOn: number[]
}

/** Where the error of a step came from and how far up it went. Undefined for a step that did not fail. */
export function findErrorPath(timeline: Timeline, position: number): ErrorPath | undefined {
  const step = timeline.steps[position]
  if (step === undefined || !hasFailed(step)) return undefined
  const owner = ownsError(step) ? position : findOwner(timeline, position)
  const passedOn: number[] = []
  for (let above = timeline.parents[owner] ?? -1; above >= 0; above = timeline.parents[above]!) {
    if (timeline.steps[above]!.error?.isPropagated !== true) break
    passedOn.push(above)
  }
  return { owner, passedOn }
}

/** The last descendant that owns an error, preferably one with the same message. */
function findOwner({ steps, errors, parents }: Timeline, position: number): number {
  const isBelow = (candidate: number) => {
    let above = candidate
    while (above > position) above = parents[above]!
    return above === position
  }
  const below = errors.filter((candidate) => candidate > position && isBelow(candidate))
  const message = steps[position]!.error?.message ?? ''
  return (
    below.findLast((candidate) => hasMessage(message, steps[candidate]!.error)) ?? below.at(-1) ?? position
  )
}

function hasMessage(message: string, error: StepError | undefined): boolean {
  return error !== undefined && error.message !== '' && message.includes(error.message)
}
