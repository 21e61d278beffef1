/** How a session ended. `running` and `lost` are for sessions whose end was never reported. */
export type EndState = 'success' | 'fail' | 'indeterminate' | 'running' | 'lost'

/** The end states that a person or an SDK can report. */
export type ReportedEndState = Extract<EndState, 'success' | 'fail' | 'indeterminate'>

export const endStates = [
  'success',
  'fail',
  'indeterminate',
  'running',
  'lost',
] as const satisfies readonly EndState[]

/** A session that has not ended is lost when nothing arrives for this long. */
export const LOST_AFTER_MS = 120_000

/** Parses any spelling that SDKs use ("Success", "FAIL", "Error", "Shutdown"); unknown words are indeterminate. */
export function parseEndState(text: string): ReportedEndState {
  const word = text.trim().toLowerCase()
  if (['success', 'succeeded', 'ok', 'passed', 'pass'].includes(word)) return 'success'
  if (['fail', 'failed', 'failure', 'error'].includes(word)) return 'fail'
  return 'indeterminate'
}

/** The label of an end state: "Success", "Fail", … */
export function describeEndState(state: EndState): string {
  return state[0]!.toUpperCase() + state.slice(1)
}
