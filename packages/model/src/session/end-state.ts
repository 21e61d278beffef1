/** How a session ended; `running` and `lost` are what it is while nobody said. */
export type EndState = 'success' | 'fail' | 'indeterminate' | 'running' | 'lost'

/** The states a person or SDK can give. */
export type ReportedEndState = Extract<EndState, 'success' | 'fail' | 'indeterminate'>

export const endStates = [
  'success',
  'fail',
  'indeterminate',
  'running',
  'lost',
] as const satisfies readonly EndState[]

/** A session that nothing was heard of for this long, and that never ended, is lost. */
export const LOST_AFTER_MS = 120_000

/** Reads an end state in any spelling that SDKs use ("Success", "FAIL", "Error", "Shutdown"); anything unknown is indeterminate. */
export function parseEndState(text: string): ReportedEndState {
  const word = text.trim().toLowerCase()
  if (['success', 'succeeded', 'ok', 'passed', 'pass'].includes(word)) return 'success'
  if (['fail', 'failed', 'failure', 'error'].includes(word)) return 'fail'
  return 'indeterminate'
}

/** The word people read: "Success", "Fail", … */
export function describeEndState(state: EndState): string {
  return state[0]!.toUpperCase() + state.slice(1)
}
