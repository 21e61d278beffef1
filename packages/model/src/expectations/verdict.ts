/** The result of a check. */
export type Verdict = {
  pass: boolean
  /** Why the check failed; if it passed, why its negation would fail. */
  message: string
  /** The step that shows why. */
  stepId?: string
  /** The check can't be decided, so its negation fails as well. */
  isUndecided?: true
}
