import { formatCost, formatDuration, visibleText, type ReportSession, type ReportTest } from '@playhead/model'
import { Check, Play, X } from 'lucide-react'
import { hashOf } from './hash-location.ts'

const LINES_SHOWN = 40
/** The others are in the table, with their replays. */
const EXPLAINED = 3

/** The sessions of a test: a table of inputs and attempts where there are several, and why those failed that did. */
export function ReportSessions({ test }: { test: ReportTest }) {
  const inputs = [...Map.groupBy(test.sessions, ({ variant }) => variant ?? '')]
  const failed = test.sessions.filter(({ isPassed }) => !isPassed)
  const explained = inputs.length > 1 ? firstOfEach(failed) : failed
  return (
    <>
      {explained.slice(0, EXPLAINED).map((session) => (
        <Failure key={session.id} session={session} isNamed={inputs.length > 1 || test.sessions.length > 1} />
      ))}
      {(inputs.length > 1 || test.sessions.length > 1 || failed.length === 0) && (
        <table className="report-runs">
          <tbody>
            {inputs.map(([variant, sessions]) => (
              <tr key={variant}>
                <th scope="row" title={variant}>
                  {variant === '' ? (sessions.length > 1 ? 'attempts' : 'session') : visibleText(variant)}
                </th>
                <td>
                  {sessions.map((session) => (
                    <Cell key={session.id} session={session} />
                  ))}
                </td>
                <td className="report-figure">
                  {sessions.filter(({ isPassed }) => isPassed).length} of {sessions.length}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  )
}

function firstOfEach(failed: readonly ReportSession[]): ReportSession[] {
  return [...Map.groupBy(failed, ({ variant }) => variant ?? '').values()].map(([first]) => first!)
}

function linkOf({ id, stepId, isKept, url }: ReportSession): string | undefined {
  if (isKept) return hashOf(id, stepId === undefined ? {} : { step: stepId })
  return url !== undefined && /^https?:/.test(url) ? url : undefined
}

function Failure({ session, isNamed }: { session: ReportSession; isNamed: boolean }) {
  const { message = 'It failed.', variant, attempt } = session
  const lines = message.split('\n').filter((line) => !line.startsWith('Replay: '))
  const link = linkOf(session)
  return (
    <div className="report-failure">
      <div className="report-failure-head">
        <span>{isNamed ? nameOf(session) : 'Why it failed'}</span>
        {link !== undefined && (
          <a className="button button-plain" href={link}>
            <Play size={13} aria-hidden="true" /> Replay
          </a>
        )}
      </div>
      <pre
        className="mono"
        tabIndex={0}
        role="region"
        aria-label={`Why it failed: ${variant ?? `attempt ${attempt}`}`}
      >
        {lines.slice(0, LINES_SHOWN).join('\n').trimEnd()}
      </pre>
    </div>
  )
}

function nameOf({ variant, attempt }: ReportSession): string {
  return variant === undefined ? `Attempt ${attempt}` : `“${visibleText(variant)}”`
}

function Cell({ session }: { session: ReportSession }) {
  const { isPassed, attempt, cost, durationMs } = session
  const Icon = isPassed ? Check : X
  const figures = [
    durationMs === null ? '' : formatDuration(durationMs),
    cost === null ? '' : formatCost(cost),
  ]
  const label = [`attempt ${attempt}`, isPassed ? 'passed' : 'failed', ...figures].filter(Boolean).join(' · ')
  const link = linkOf(session)
  const className = `report-cell verdict-${isPassed ? 'pass' : 'fail'}`
  if (link === undefined)
    return (
      <span className={className} title={label}>
        <Icon size={13} strokeWidth={2.8} aria-label={label} />
      </span>
    )
  return (
    <a className={className} href={link} title={label} aria-label={label}>
      <Icon size={13} strokeWidth={2.8} aria-hidden="true" />
    </a>
  )
}
