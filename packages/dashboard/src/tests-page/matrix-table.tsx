import { Link } from '@tanstack/react-router'
import { visibleText, type SessionSummary } from '@playhead/model'
import { describeRun, runIcons } from './run-strip.tsx'
import type { VariantMatrix } from './variant-matrix.ts'

/** A row for each input, a column for each attempt; a cell opens its session. */
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
