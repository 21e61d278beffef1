import {
  ChevronDown,
  ChevronLeft,
  ChevronUp,
  FlaskConical,
  GitBranch,
  MessagesSquare,
  User,
  Radio,
} from 'lucide-react'
import { useState, type ReactNode } from 'react'
import {
  countOf,
  describeRerun,
  formatCost,
  formatCount,
  formatDuration,
  NO_OUTPUT,
  NO_USAGE,
  shortSessionId,
  visibleText,
  type SessionSummary,
  type StepKind,
  type EndState,
} from '@playhead/model'
import { CopyButton } from '../../ui/controls/copy-button.tsx'
import { ExportMenu } from './export-menu.tsx'
import { useReplay } from '../playback/replay-context.ts'
import type { Timeline } from '../playback/timeline.ts'
import { EndStateBadge } from '../../session-facts/end-state.tsx'
import { TapeBadge } from './tape-badge.tsx'
import { SessionTags } from './session-tags.tsx'
import './session-header.css'

/** Name, end state and figures of the session. `back`: the link to the list; `lineage`: its re-runs, with links. */
export function SessionHeader({
  back,
  tools,
  lineage,
  onTest,
}: {
  back: ReactNode
  tools?: ReactNode
  lineage?: ReactNode
  onTest?: (() => void) | undefined
}) {
  const { timeline } = useReplay()
  const { session } = timeline
  // A phone shows the rest when somebody asks for it.
  const [isWhole, setIsWhole] = useState(false)
  return (
    <header className={isWhole ? 'session-header' : 'session-header is-brief'}>
      <div className="header-line">
        <div className="header-main">
          {back}
          <h1 title={session.name}>{visibleText(session.name)}</h1>
          <EndStateMark state={session.endState} />
          <span className="header-id mono">
            {shortSessionId(session.id)}
            <CopyButton label={`Copy ID ${session.id}`} read={() => session.id} />
          </span>
          <Figures timeline={timeline} />
          <DetailsButton isWhole={isWhole} onToggle={() => setIsWhole(!isWhole)} />
          <TapeBadge />
          <SessionTags />
        </div>
        <div className="header-tools">
          {tools}
          <ExportMenu onTest={onTest} />
        </div>
      </div>
      <Context session={session} />
      {lineage ?? <OwnRerun session={session} />}
    </header>
  )
}

function DetailsButton({ isWhole, onToggle }: { isWhole: boolean; onToggle: () => void }) {
  const Chevron = isWhole ? ChevronUp : ChevronDown
  return (
    <button type="button" className="header-details" aria-expanded={isWhole} onClick={onToggle}>
      Details
      <Chevron size={14} aria-hidden="true" />
    </button>
  )
}

export function BackMark({ label }: { label: string }) {
  return (
    <>
      <ChevronLeft size={16} aria-hidden="true" />
      <span className="header-back-word">{label}</span>
    </>
  )
}

function Figures({ timeline }: { timeline: Timeline }) {
  const { session } = timeline
  const { usage, errorCount } = session
  // While the session runs, steps arrive before the summary counts them.
  const count = (kind: StepKind, counted: number) =>
    session.endState === 'running'
      ? Math.max(counted, timeline.steps.filter((step) => step.kind === kind).length)
      : counted
  const tokens = usage.total ?? sumOf(usage.input, usage.output)
  return (
    <span className="header-figures">
      <b>{formatDuration(session.durationMs ?? timeline.durationMs)}</b>
      <Cost session={session} />
      {tokens !== undefined && (
        <span title={`${usage.input ?? '?'} in, ${usage.output ?? '?'} out`}>
          <b>{formatCount(tokens)}</b> tokens
        </span>
      )}
      <span title="LLM calls">{formatCount(count('llm', session.llmCallCount))} LLM</span>
      <span>{countOf(count('action', session.actionCount), 'action')}</span>
      {errorCount > 0 && <span className="header-errors">{countOf(errorCount, 'error')}</span>}
    </span>
  )
}

function sumOf(input: number | undefined, output: number | undefined): number | undefined {
  return input === undefined && output === undefined ? undefined : (input ?? 0) + (output ?? 0)
}

/** Unknown prices are shown, never counted as 0. */
function Cost({ session: { cost } }: { session: SessionSummary }) {
  const { unpricedModels, callsWithoutUsage, callsWithoutOutput } = useReplay().missingCosts
  const reasons: string[] = []
  if (unpricedModels.length > 0) reasons.push(`No price for ${unpricedModels.map(visibleText).join(', ')}`)
  if (callsWithoutUsage.length > 0)
    reasons.push(`${countOf(callsWithoutUsage.length, 'call')} with ${NO_USAGE}`)
  if (callsWithoutOutput.length > 0)
    reasons.push(`${countOf(callsWithoutOutput.length, 'call')} with ${NO_OUTPUT}`)
  const isIncomplete = reasons.length > 0
  const missing = reasons.join('; ')
  if (cost === null) return isIncomplete ? <span title={missing}>Cost unknown</span> : null
  return (
    <span title={isIncomplete ? missing : 'Estimated cost'}>
      <b>{formatCost(cost)}</b>
      {isIncomplete && <span className="header-more"> + unknown</span>}
    </span>
  )
}

/** The input, the reason for the end state, and the test, thread, user and branch of the session. */
function Context({ session }: { session: SessionSummary }) {
  const { test, vcs, threadId, userId, environment, endStateReason, inputPreview } = session
  const asked = inputPreview === session.name ? undefined : inputPreview
  const facts: [key: string, icon: ReactNode, text: string][] = []
  if (test !== undefined)
    facts.push(['test', <FlaskConical key="icon" size={13} aria-label="test" />, describeTest(test)])
  if (threadId !== undefined)
    facts.push(['thread', <MessagesSquare key="icon" size={13} aria-label="thread" />, threadId])
  if (userId !== undefined) facts.push(['user', <User key="icon" size={13} aria-label="user" />, userId])
  if (vcs !== undefined)
    facts.push([
      'vcs',
      <GitBranch key="icon" size={13} aria-label="branch" />,
      [vcs.branch, vcs.commit?.slice(0, 9)].filter(Boolean).join(' @ '),
    ])
  if (environment !== undefined) facts.push(['environment', null, environment])
  if (facts.length === 0 && endStateReason === undefined && asked === undefined) return null
  return (
    <div className="header-context">
      {asked !== undefined && (
        <span className="header-reason" title={asked}>
          “{visibleText(asked)}”
        </span>
      )}
      {endStateReason !== undefined && (
        <span
          className={session.endState === 'fail' ? 'header-reason is-bad' : 'header-reason'}
          title={endStateReason}
        >
          {visibleText(endStateReason)}
        </span>
      )}
      {facts.map(([key, icon, text]) => (
        <span key={key} className="header-fact" title={`${key}: ${text}`}>
          {icon}
          {visibleText(text)}
        </span>
      ))}
    </div>
  )
}

/** What the session is a re-run of, where there is nothing to link to. */
function OwnRerun({ session }: { session: SessionSummary }) {
  const rerun = describeRerun(session)
  return rerun === undefined ? null : <p className="header-context">This is a {rerun}.</p>
}

function describeTest({ file, suite, name, attempt, variant }: NonNullable<SessionSummary['test']>): string {
  const path = [file, suite, name].filter((part) => part !== undefined && part !== '').join(' › ')
  const more = [
    variant === undefined ? undefined : `variant ${variant}`,
    attempt === undefined || attempt <= 1 ? undefined : `attempt ${attempt}`,
  ].filter((part) => part !== undefined)
  return more.length === 0 ? path : `${path} (${more.join(', ')})`
}

/** The end state of a session, or LIVE while it runs. */
export function EndStateMark({ state }: { state: EndState }) {
  if (state !== 'running') return <EndStateBadge state={state} />
  return (
    <span className="live-badge">
      <Radio size={14} aria-hidden="true" />
      LIVE
    </span>
  )
}
