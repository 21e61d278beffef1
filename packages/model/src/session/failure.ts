import type { StepError, StepStatus } from './step.ts'

type Outcome = { status: StepStatus; error?: StepError }

/** True for a step that threw, and for one whose result says that it failed. */
export function hasFailed({ status }: Pick<Outcome, 'status'>): boolean {
  return status === 'error' || status === 'soft-error'
}

/** True for the failed step that the error came from; false for steps above that only passed it on. */
export function ownsError(step: Outcome): boolean {
  return hasFailed(step) && step.error?.isPropagated !== true
}
