import { Link } from '@tanstack/react-router'
import { ChevronLeft } from 'lucide-react'
import type { ReactNode } from 'react'
import {
  describeRerun,
  totalTokens,
  formatCost,
  formatDuration,
  formatPercent,
  shortSessionId,
  visibleText,
  type SessionSummary,
} from '@playhead/model'
import { EndStateBadge } from '../session-facts/end-state.tsx'
import { describeEdit } from '../session-facts/evidence.ts'
import { Cost, Duration, Tokens } from '../session-facts/figures.tsx'
import type { Comparison } from './use-comparison.ts'
import './compare-header.css'

/** Both sessions with their figures, and the changes between them. */
export function CompareHeader({ comparison: { a, b } }: { comparison: Comparison }) {
  const [left, right] = [a.session, b.session]
  return (
    <header className="compare-header">
      <Link to="/sessions" className="compare-back" aria-label="Back to sessions">
        <ChevronLeft size={16} aria-hidden="true" />
      </Link>
      <h1 className="visually-hidden">Compare sessions</h1>
      <SessionCard side="A" session={left} />
      <dl className="compare-changes" aria-label="Changes from A to B">
        <Change name="time" from={left.durationMs} to={right.durationMs} show={formatDuration} />
        <Change name="cost" from={left.cost} to={right.cost} show={formatCost} />
        <Change
          name="tokens"
          from={totalTokens(left.usage) ?? null}
          to={totalTokens(right.usage) ?? null}
          show={(count) => Math.round(count).toLocaleString('en')}
        />
        <Change name="steps" from={left.stepCount} to={right.stepCount} show={(count) => String(count)} />
      </dl>
      <SessionCard side="B" session={right} />
    </header>
  )
}

function SessionCard({ side, session }: { side: 'A' | 'B'; session: SessionSummary }) {
  const variant = session.test?.variant
  return (
    <section className={`compare-card is-${side.toLowerCase()}`} aria-label={`Session ${side}`}>
      <div className="compare-card-line">
        <span className="compare-side">{side}</span>
        <EndStateBadge state={session.endState} reason={session.endStateReason} />
        <Link to="/sessions/$sessionId" params={{ sessionId: session.id }} className="mono">
          {shortSessionId(session.id)}
        </Link>
        <span className="dim">{new Date(session.startedAt).toLocaleString()}</span>
      </div>
      {session.parentId !== undefined && <p className="compare-rerun">{describeOwnRerun(session)}</p>}
      <p className="compare-asked" title={session.inputPreview}>
        {visibleText(variant ?? session.inputPreview ?? session.name)}
      </p>
      <div className="compare-figures">
        <Figure name="time">
          <Duration durationMs={session.durationMs} />
        </Figure>
        <Figure name="cost">
          <Cost {...session} />
        </Figure>
        <Figure name="tokens">
          <Tokens usage={session.usage} />
        </Figure>
        <Figure name="steps">{session.stepCount.toLocaleString('en')}</Figure>
      </div>
    </section>
  )
}

/** "fork of s_1a2b3c4d, with result "c_42"". */
function describeOwnRerun(session: SessionSummary): string {
  const { edit } = session
  return visibleText(`${describeRerun(session)}${edit === undefined ? '' : `, with ${describeEdit(edit)}`}`)
}

function Figure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <span>
      <b>{children}</b> <span className="dim">{name}</span>
    </span>
  )
}

type ChangeProps = {
  name: string
  from: number | null
  to: number | null
  show: (value: number) => string
}

/** The change of a figure, if it is known on both sides. */
function Change({ name, from, to, show }: ChangeProps) {
  const change = from === null || to === null ? null : to - from
  const share = change === null || from === null || from === 0 ? undefined : change / from
  const sign = change === null || change === 0 ? '' : change > 0 ? '+' : '−'
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {change === null ? '–' : change === 0 ? 'no change' : `${sign}${show(Math.abs(change))}`}
        {share !== undefined && Math.abs(share) >= 0.005 && (
          <span className="dim">
            {' '}
            {sign}
            {formatPercent(Math.abs(share))}
          </span>
        )}
      </dd>
    </div>
  )
}
