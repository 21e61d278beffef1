import { formatCost, formatDuration, visibleText, type ReportTest } from '@playhead/model'
import { ChevronRight } from 'lucide-react'
import { formatShare } from '../ui/charts/format-share.ts'
import { ReportSessions } from './report-sessions.tsx'
import { verdictWords, VerdictMark } from './verdict-mark.tsx'

/** One test: its verdict and figures and, opened, why it failed and each of its sessions. */
export function ReportTestRow({ test }: { test: ReportTest }) {
  const { verdict, suite, name, cost, durationMs, note } = test
  return (
    <details className="report-test" open={verdict === 'fail' || verdict === 'inconclusive'}>
      <summary>
        <ChevronRight size={14} aria-hidden="true" className="report-chevron" />
        <VerdictMark verdict={verdict} />
        <span className="visually-hidden">{verdictWords[verdict]}:</span>
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
        {test.wanted !== undefined && <Judgement test={test} />}
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
      title={`${passed} of ${total} passed; the true share lies between ${formatShare(interval.low)} and ${formatShare(interval.high)}`}
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

function Judgement({ test }: { test: ReportTest }) {
  const { passed, total, interval, verdict, passAtK = [], passHatK = [] } = test
  const { minimum, confidence } = test.wanted!
  const last = passHatK.length
  return (
    <p className="report-judgement">
      <b>{formatShare(total === 0 ? 0 : passed / total)}</b> passed; with {formatShare(confidence)} confidence
      between {formatShare(interval.low)} and {formatShare(interval.high)}. Wanted: {formatShare(minimum)}.{' '}
      {verdictWords[verdict]}.
      {last > 1 && (
        <span className="dim">
          {' '}
          At least one of {last} tries passes: {formatShare(passAtK[last - 1]!)}; all {last} do:{' '}
          {formatShare(passHatK[last - 1]!)}.
        </span>
      )}
    </p>
  )
}
