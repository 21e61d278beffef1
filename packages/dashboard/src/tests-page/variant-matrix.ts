import type { SessionSummary } from '@playhead/model'

export type MatrixRow = {
  variant: string
  /** One for each attempt, in order; undefined where there was none. */
  cells: (SessionSummary | undefined)[]
  passed: number
  decided: number
}

export type VariantMatrix = { attempts: number[]; rows: MatrixRow[] }

/**
 * Inputs against attempts, in the order in which the inputs were first tried. Sessions that don't say their attempt are
 * numbered by time; of two that say the same, the later one counts.
 */
export function buildVariantMatrix(sessions: readonly SessionSummary[]): VariantMatrix {
  const inOrder = sessions.toSorted((left, right) => (left.startedAt < right.startedAt ? -1 : 1))
  const variants = Map.groupBy(inOrder, ({ test }) => test?.variant ?? '')
  const placed = [...variants].map(([variant, ofVariant]) => {
    const byAttempt = new Map<number, SessionSummary>()
    for (const session of ofVariant) byAttempt.set(session.test?.attempt ?? byAttempt.size + 1, session)
    return { variant, byAttempt }
  })
  const attempts = [...new Set(placed.flatMap(({ byAttempt }) => [...byAttempt.keys()]))].sort(
    (left, right) => left - right,
  )
  const rows = placed.map(({ variant, byAttempt }) => {
    const states = [...byAttempt.values()].map(({ endState }) => endState)
    return {
      variant,
      cells: attempts.map((attempt) => byAttempt.get(attempt)),
      passed: states.filter((state) => state === 'success').length,
      decided: states.filter((state) => state === 'success' || state === 'fail').length,
    }
  })
  return { attempts, rows }
}
