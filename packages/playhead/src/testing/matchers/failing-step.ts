/** The step that the last failed expectation of a session points to, by the session's id. */
const steps = new Map<string, string>()

export function noteFailingStep(sessionId: string, stepId: string | undefined): void {
  if (stepId !== undefined) steps.set(sessionId, stepId)
}

export function takeFailingStep(sessionId: string): string | undefined {
  const stepId = steps.get(sessionId)
  steps.delete(sessionId)
  return stepId
}
