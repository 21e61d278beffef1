import type { EndState } from '@playhead/model'

type Outcome = { endState: EndState; commit?: string; runId?: string; variant?: string }

/**
 * Whether a test passes and fails without a reason in the code: both happened at one commit (or, where that is unknown,
 * in one run of the suite) with the same input. Where neither is known, one change of outcome may be a fix; two are not.
 * `runs` are in order of time, either way round.
 */
export function isFlaky(runs: readonly Outcome[]): boolean {
  const decided = runs.filter(({ endState }) => endState === 'success' || endState === 'fail')
  const circumstances = Map.groupBy(decided, ({ commit, runId, variant = '' }) =>
    JSON.stringify([commit ?? runId ?? null, variant]),
  )
  return [...circumstances].some(([key, outcomes]) => {
    const isCodeKnown = !key.startsWith('[null')
    return changesOf(outcomes) >= (isCodeKnown ? 1 : 2)
  })
}

function changesOf(outcomes: readonly Outcome[]): number {
  return outcomes.filter(({ endState }, index) => index > 0 && endState !== outcomes[index - 1]!.endState)
    .length
}
