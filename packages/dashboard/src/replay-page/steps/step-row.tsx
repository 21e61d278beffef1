import { ChevronRight, CircleX, CornerLeftUp, TriangleAlert } from 'lucide-react'
import { memo, useLayoutEffect, useRef, type CSSProperties, type ReactNode } from 'react'
import {
  countOf,
  formatCost,
  formatOffset,
  hasFailed,
  ownsError,
  stepTitle,
  visibleText,
  type Step,
  type StepSource,
} from '@playhead/model'
import { KindMark, kindLooks } from '../../session-facts/kind-mark.tsx'
import { sourceWords } from '../../session-facts/step-source.ts'
import { phaseOf } from '../playback/playhead-state.ts'
import { isAtRest, usePlayerState, useReplay } from '../playback/replay-context.ts'
import type { ListRow } from './step-rows.ts'
import { durationOf, formatStepDuration, previewOf } from './step-text.ts'
import type { TimeScale } from '../playback/time-scale.ts'

type RowProps = {
  id: string
  top: number
  row: ListRow
  step: Step
  scale: TimeScale
  isSelected: boolean
  onToggle: (stepId: string, isRepeat: boolean) => void
}

/** One step in the list. It re-renders when its phase changes, not whenever the playhead moves. */
export const StepRow = memo(function StepRow(props: RowProps & { isMatch: boolean }) {
  const { row, step, isMatch } = props
  const { timeline } = useReplay()
  const isOwner = ownsError(step)
  const startMs = timeline.startsMs[row.position]!
  const endMs = timeline.endsMs[row.position]!
  return (
    <RowFrame {...props} startMs={startMs} endMs={endMs} isBad={isOwner} isQuiet={!isMatch}>
      <KindMark kind={step.kind} isBad={isOwner} />
      <span className="step-row-name">{visibleText(stepTitle(step))}</span>
      {step.isInferred === true && <StepTag text="inferred" title="No instrumentation recorded this call" />}
      {step.streaming?.isAborted === true && <StepTag text="aborted" title="The stream was aborted" />}
      {step.changes !== undefined && (
        <StepTag text="changed" title="Something different was sent after it ended" />
      )}
      {step.source !== undefined && <SourceTag source={step.source} />}
      <ErrorMark step={step} />
      {!isOwner && <span className="step-row-preview">{visibleText(previewOf(step)).slice(0, 200)}</span>}
    </RowFrame>
  )
})

function StepTag({ text, title }: { text: string; title: string }) {
  return (
    <span className="step-row-tag" title={title}>
      {text}
    </span>
  )
}

function SourceTag({ source }: { source: StepSource }) {
  const { word, fact } = sourceWords[source]
  return (
    <span className={`step-row-tag is-${source}`} title={fact}>
      {word}
    </span>
  )
}

function ErrorMark({ step }: { step: Step }) {
  if (!hasFailed(step)) return null
  const { error } = step
  if (error?.isPropagated === true)
    return (
      <span className="step-row-passed" title="Passed on an error">
        <CornerLeftUp size={12} aria-label="passed on an error" />
      </span>
    )
  const Icon = step.status === 'soft-error' ? TriangleAlert : CircleX
  return (
    <span className="step-row-error">
      <Icon size={13} aria-label={step.status === 'soft-error' ? 'returned a failure:' : 'failed:'} />
      <span className="step-row-error-type">{visibleText(error?.type ?? 'Error')}</span>
      {error?.isHandled === true && <em>handled</em>}
      {error !== undefined && error.message !== '' && (
        <span className="step-row-preview">{visibleText(error.message).slice(0, 160)}</span>
      )}
    </span>
  )
}

/** Consecutive steps of the same name, folded into one row. */
export const RepeatRow = memo(function RepeatRow(props: RowProps) {
  const { row, step } = props
  const { timeline } = useReplay()
  const members = row.members ?? []
  const failed = members.filter((position) => ownsError(timeline.steps[position]!)).length
  const last = members.at(-1) ?? row.position
  const startMs = timeline.startsMs[row.position]!
  const endMs = timeline.endsMs[last]!
  return (
    <RowFrame {...props} startMs={startMs} endMs={endMs} isBad={false} isQuiet={false} members={members}>
      <KindMark kind={step.kind} />
      <span className="step-row-name">{visibleText(stepTitle(step))}</span>
      <span className="step-row-times">×{members.length.toLocaleString('en-US')}</span>
      {failed > 0 && (
        <span className="step-row-error">
          <CircleX size={13} aria-hidden="true" />
          {failed} failed
        </span>
      )}
    </RowFrame>
  )
})

type FrameProps = RowProps & {
  startMs: number
  endMs: number
  isBad: boolean
  isQuiet: boolean
  members?: readonly number[]
  children: ReactNode
}

function RowFrame({
  id,
  top,
  row,
  step,
  scale,
  isSelected,
  onToggle,
  startMs,
  endMs,
  isBad,
  isQuiet,
  members,
  children,
}: FrameProps) {
  const { player, timeline } = useReplay()
  const isTapeEnd = row.position === timeline.tapeEnd
  const phase = usePlayerState((state) => phaseOf({ startMs, endMs }, state.positionMs, isAtRest(state)))
  const isRepeat = members !== undefined
  return (
    <div
      id={id}
      role="treeitem"
      aria-level={row.depth + 1}
      aria-selected={isSelected}
      aria-expanded={row.isOpen}
      className={`step-row is-${phase}${isSelected ? ' is-selected' : ''}${isBad ? ' is-bad' : ''}${isQuiet ? ' is-quiet' : ''}${isTapeEnd ? ' is-tape-end' : ''}`}
      style={{ transform: `translateY(${top}px)`, '--depth': Math.min(row.depth, 12) } as CSSProperties}
      onClick={() => player.select(step.id)}
    >
      <span className="step-row-time mono">{formatRowTime(startMs)}</span>
      <span className="step-row-main">
        <span className="step-row-indent" />
        {row.isOpen === undefined ? (
          <span className="step-row-nofold" />
        ) : (
          <FoldMark isOpen={row.isOpen} onClick={() => onToggle(step.id, isRepeat)} />
        )}
        {children}
      </span>
      <TimeBar
        step={step}
        startMs={startMs}
        endMs={endMs}
        scale={scale}
        isBad={isBad}
        isRunning={phase === 'running'}
      />
      <span className="step-row-cost">{costOf(step, isRepeat)}</span>
      <span className="step-row-duration">
        {isRepeat ? (
          <span title={countOf(members.length, 'step')}>{durationOfRepeat(startMs, endMs)}</span>
        ) : (
          durationOf(step)
        )}
      </span>
    </div>
  )
}

/** For the mouse; the keyboard folds with Enter. */
function FoldMark({ isOpen, onClick }: { isOpen: boolean; onClick: () => void }) {
  return (
    <span
      className={`step-row-fold${isOpen ? ' is-open' : ''}`}
      aria-hidden="true"
      onClick={(event) => {
        event.stopPropagation()
        onClick()
      }}
    >
      <ChevronRight size={14} />
    </span>
  )
}

function costOf(step: Step, isRepeat: boolean): string {
  return isRepeat || step.cost === null || step.usageScope === 'rollup' || step.usageScope === 'duplicate'
    ? ''
    : formatCost(step.cost)
}

function durationOfRepeat(startMs: number, endMs: number): string {
  return endMs === Infinity ? '' : formatStepDuration(endMs - startMs)
}

/** "1.890"; after the first minute "12:01.890". */
function formatRowTime(timeMs: number): string {
  return timeMs < 60_000 ? (timeMs / 1000).toFixed(3) : formatOffset(timeMs)
}

type BarProps = {
  step: Step
  startMs: number
  endMs: number
  scale: TimeScale
  isBad: boolean
  isRunning: boolean
}

function TimeBar({ step, startMs, endMs, scale, isBad, isRunning }: BarProps) {
  const from = scale.toX(startMs)
  const to = scale.toX(Math.min(endMs, scale.view.endMs))
  if (to < 0 || from > 100) return <span className="step-row-track" />
  const left = Math.max(0, from)
  const style = {
    left: `${left}%`,
    width: `max(3px, ${Math.max(0, Math.min(100, to) - left)}%)`,
    color: `var(${isBad ? '--bad' : kindLooks[step.kind].colour})`,
  } as CSSProperties
  const looks = ['step-row-bar']
  if (step.kind === 'agent' || step.kind === 'workflow') looks.push('is-soft')
  if (step.source === 'tape') looks.push('is-taped')
  if (endMs === Infinity) looks.push('is-open')
  return (
    <span className="step-row-track">
      <span className={looks.join(' ')} style={style}>
        {isRunning && <BarFill from={from} to={to} scale={scale} />}
      </span>
    </span>
  )
}

/** The progress of a running step. Moves without React. */
function BarFill({ from, to, scale }: { from: number; to: number; scale: TimeScale }) {
  const { player } = useReplay()
  const fill = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    const place = () => {
      const share = (scale.toX(player.getState().positionMs) - from) / Math.max(to - from, 0.001)
      fill.current!.style.transform = `scaleX(${Math.min(1, Math.max(0, share)).toFixed(4)})`
    }
    place()
    return player.subscribe(place)
  }, [player, scale, from, to])
  return <i ref={fill} />
}
