import { Link } from '@tanstack/react-router'
import { visibleText, type SessionSummary } from '@playhead/model'
import { describeRun, runIcons } from './run-strip.tsx'

/** One row per input, one column per attempt; each cell opens its session. */
export function MatrixTable({ matrix, label }: { matrix: VariantMatrix; label: string }) {
  return (
    <div className="matrix-scroll">
      <table className="variant-matrix">
        <caption className="visually-hidden">{label}</caption>
        <thead>
          <tr>
            <th scope="col" style={{ textAlign: 'left' }}>
              Input
            </th>
            {matrix.attempts.map((attempt) => (
              <th key={attempt} scope="col">
                {attempt}
              </th>
            ))}
            <th scope="col" className="matrix-sum">
              Passed
            </th>
          </tr>
        </thead>
        <tbody>
          {matrix.rows.map(({ variant, cells, passed, decided }) => (
            <tr key={variant}>
              <th scope="row" title={variant}>
                {variant === '' ? 'no input' : visibleText(variant)}
              </th>
              {cells.map((session, index) => (
                <td key={matrix.attempts[index]}>
                  {session === undefined ? (
                    <span className="matrix-none">·</span>
                  ) : (
                    <Cell session={session} />
                  )}
                </td>
              ))}
              <td className="matrix-sum">
                {passed} of {decided}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Cell({ session }: { session: SessionSummary }) {
  const Icon = runIcons[session.endState]
  const text = describeRun({
    endState: session.endState,
    startedAt: session.startedAt,
    durationMs: session.durationMs,
    cost: session.cost,
    ...(session.test?.variant !== undefined && { variant: session.test.variant }),
    ...(session.test?.attempt !== undefined && { attempt: session.test.attempt }),
  })
  const reason = session.endStateReason === undefined ? '' : `\n${session.endStateReason}`
  return (
    <Link
      to="/sessions/$sessionId"
      params={{ sessionId: session.id }}
      preload={false}
      className={`matrix-cell run-${session.endState}`}
      aria-label={text}
      title={text + reason}
    >
      <Icon size={14} strokeWidth={2.5} aria-hidden="true" />
    </Link>
  )
}

type MatrixRow = {
  variant: string
  /** One per attempt, in order; undefined if it is missing. */
  cells: (SessionSummary | undefined)[]
  passed: number
  decided: number
}

type VariantMatrix = { attempts: number[]; rows: MatrixRow[] }

/**
 * Inputs in the order of their first run, and their attempts. Sessions without an attempt number are numbered by time; of
 * two with the same number, the later one counts.
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
