import { hasFailed, ownsError, type Step, type StepError } from '@playhead/model'
import type { Timeline } from './timeline.ts'

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

export type ErrorTrail = {
  /** The step that the error came from. */
  owner: number
  /** The steps that passed it on, from the owner upwards. */
  passedOn: number[]
}

/** Where the error of a step came from, and how far up it went. Undefined for a step that did not fail. */
export function findErrorTrail(timeline: Timeline, position: number): ErrorTrail | undefined {
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

/** The last step below that owns an error, one with the same words if there is any. */
function findOwner({ steps, errors, parents }: Timeline, position: number): number {
  const isBelow = (candidate: number) => {
    let above = candidate
    while (above > position) above = parents[above]!
    return above === position
  }
  const below = errors.filter((candidate) => candidate > position && isBelow(candidate))
  const message = steps[position]!.error?.message ?? ''
  return below.findLast((candidate) => isAlike(message, steps[candidate]!.error)) ?? below.at(-1) ?? position
}

function isAlike(message: string, error: StepError | undefined): boolean {
  return error !== undefined && error.message !== '' && message.includes(error.message)
}

function endOf(step: Step): number {
  return step.offsetMs + (step.durationMs ?? 0)
}
