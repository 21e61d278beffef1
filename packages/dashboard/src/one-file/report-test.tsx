import {
  formatCost,
  formatDuration,
  visibleText,
  type ReportTest,
  type ReportVerdict,
  type ReportSession,
} from '@playhead/model'
import { ChevronRight, Check, CircleHelp, RotateCw, X, type LucideIcon, Play } from 'lucide-react'
import { formatShare } from '../ui/charts/share-bar.tsx'
import { hashOf } from './hash-location.ts'

/** One test with its verdict and figures. Expanded, it shows why it failed and all its sessions. */
export function ReportTestRow({ test }: { test: ReportTest }) {
  const { verdict, suite, name, cost, durationMs, note } = test
  return (
    <details className="report-test" open={verdict === 'fail' || verdict === 'inconclusive'}>
      <summary>
        <ChevronRight size={14} aria-hidden="true" className="report-chevron" />
        <VerdictMark verdict={verdict} />
        <span className="visually-hidden">{verdictLabels[verdict]}:</span>
        <span className="report-name">
          {suite !== undefined && <span className="dim">{visibleText(suite)} › </span>}
          <strong>{visibleText(name)}</strong>
        </span>
        <Rate test={test} />
        <span className="report-figure">{cost === null ? '' : formatCost(cost)}</span>
        <span className="report-figure">{formatDuration(durationMs)}</span>
      </summary>
      <div className="report-body">
        {note !== undefined && <p>{note}</p>}
        {test.wanted !== undefined && <PassRate test={test} />}
        <ReportSessions test={test} />
      </div>
    </details>
  )
}

function Rate({ test: { passed, total, interval } }: { test: ReportTest }) {
  if (total < 2) return <span />
  const percent = (share: number) => `${share * 100}%`
  return (
    <span
      className="report-rate"
      title={`${passed} of ${total} passed; the true pass rate is between ${formatShare(interval.low)} and ${formatShare(interval.high)}`}
    >
      <span>
        {passed}/{total}
      </span>
      <span className="report-band" aria-hidden="true">
        <span style={{ left: percent(interval.low), width: percent(interval.high - interval.low) }} />
        <i style={{ left: percent(passed / total) }} />
      </span>
    </span>
  )
}

function PassRate({ test }: { test: ReportTest }) {
  const { passed, total, interval, verdict, passAtK = [], passHatK = [] } = test
  const { minimum, confidence } = test.wanted!
  const last = passHatK.length
  return (
    <p className="report-judgement">
      <b>{formatShare(total === 0 ? 0 : passed / total)}</b> passed; between {formatShare(interval.low)} and{' '}
      {formatShare(interval.high)} with {formatShare(confidence)} confidence. Required: {formatShare(minimum)}
      . {verdictLabels[verdict]}.
      {last > 1 && (
        <span className="dim">
          {' '}
          At least one of {last} attempts passes: {formatShare(passAtK[last - 1]!)}. All {last} pass:{' '}
          {formatShare(passHatK[last - 1]!)}.
        </span>
      )}
    </p>
  )
}

export const verdictLabels: Record<ReportVerdict, string> = {
  fail: 'Failed',
  inconclusive: 'Inconclusive',
  flaky: 'Flaky',
  pass: 'Passed',
}

const icons: Record<ReportVerdict, LucideIcon> = {
  fail: X,
  inconclusive: CircleHelp,
  flaky: RotateCw,
  pass: Check,
}

export function VerdictMark({ verdict, size = 16 }: { verdict: ReportVerdict; size?: number }) {
  const Icon = icons[verdict]
  return (
    <Icon size={size} strokeWidth={2.6} aria-hidden="true" className={`verdict-icon verdict-${verdict}`} />
  )
}

const LINES_SHOWN = 40
/** The table links to the replays of the others. */
const FAILURES_SHOWN = 3

/** The failures of a test, and a table of its sessions by input when there are several. */
function ReportSessions({ test }: { test: ReportTest }) {
  const inputs = [...Map.groupBy(test.sessions, ({ variant }) => variant ?? '')]
  const failed = test.sessions.filter(({ isPassed }) => !isPassed)
  const explained = inputs.length > 1 ? firstOfEach(failed) : failed
  return (
    <>
      {explained.slice(0, FAILURES_SHOWN).map((session) => (
        <Failure key={session.id} session={session} isNamed={inputs.length > 1 || test.sessions.length > 1} />
      ))}
      {(inputs.length > 1 || test.sessions.length > 1 || failed.length === 0) && (
        <table className="report-runs">
          <tbody>
            {inputs.map(([variant, sessions]) => (
              <tr key={variant}>
                <th scope="row" title={variant}>
                  {variant === '' ? (sessions.length > 1 ? 'Attempts' : 'Session') : visibleText(variant)}
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
  const { message = 'Failed', variant, attempt } = session
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
      <pre className="mono" role="region" aria-label={`Why it failed: ${variant ?? `attempt ${attempt}`}`}>
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
