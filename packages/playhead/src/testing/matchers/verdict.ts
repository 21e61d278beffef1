/** What a question to a session came to. */
export type Verdict = {
  pass: boolean
  /** Why it failed; where it passed, why its opposite would fail. */
  message: string
  /** The step that shows it, where there is one. */
  stepId?: string
  /** Neither yes nor no can be said: the opposite fails as well. */
  isUndecided?: true
}
