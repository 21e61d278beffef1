import { useEffect, useRef, type KeyboardEvent, type PointerEvent } from 'react'
import { endOffsetMs, formatDuration, formatOffset, isDivergent, type Session } from '@playhead/model'
import { readColours, useThemeVersion } from '../ui/browser/theme.ts'
import { useWidth } from '../ui/browser/use-width.ts'
import type { Comparison } from './use-comparison.ts'
import { rowAtTime, timeOfRow } from './visible-rows.ts'
import './linked-timelines.css'

type LinkedTimelinesProps = { comparison: Comparison; current: number; onSelect: (row: number) => void }

/** The timelines of both sessions. Dragging one playhead moves the other to the matching step. */
export function LinkedTimelines({ comparison, current, onSelect }: LinkedTimelinesProps) {
  return (
    <div className="linked-timelines">
      {(['a', 'b'] as const).map((side) => (
        <SideTimeline key={side} side={side} comparison={comparison} current={current} onSelect={onSelect} />
      ))}
    </div>
  )
}

function SideTimeline({ side, comparison, current, onSelect }: LinkedTimelinesProps & { side: 'a' | 'b' }) {
  const { alignment } = comparison
  const lengthMs = lengthOf(comparison[side])
  const atMs = timeOfRow(alignment, current, side)
  const share = Math.min(1, atMs / lengthMs)
  const select = (timeMs: number) => onSelect(rowAtTime(alignment, timeMs, side))
  const onPointer = (event: PointerEvent<HTMLDivElement>) => {
    if (event.buttons !== 1) return
    const box = event.currentTarget.getBoundingClientRect()
    select(Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * lengthMs)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const to = { Home: 0, End: lengthMs }[event.key]
    if (to !== undefined) select(to)
  }
  return (
    <div className="side-timeline">
      <span className="compare-side">{side.toUpperCase()}</span>
      <div
        className={`side-track is-${side}`}
        role="slider"
        tabIndex={0}
        aria-label={`Playhead of session ${side.toUpperCase()}`}
        aria-valuemin={0}
        aria-valuemax={Math.round(lengthMs)}
        aria-valuenow={Math.round(atMs)}
        aria-valuetext={formatOffset(atMs)}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          onPointer(event)
        }}
        onPointerMove={onPointer}
        onKeyDown={onKeyDown}
      >
        <Marks side={side} comparison={comparison} lengthMs={lengthMs} />
        <span className="side-playhead" style={{ left: `${share * 100}%` }} aria-hidden="true" />
      </div>
      <span className="side-time mono">
        {formatOffset(atMs)} <span className="dim">/ {formatDuration(lengthMs)}</span>
      </span>
    </div>
  )
}

function lengthOf({ session, steps }: Session): number {
  const ends = steps.reduce((end, step) => Math.max(end, endOffsetMs(step)), 1)
  return Math.max(session.durationMs ?? 0, ends)
}

const TRACK_HEIGHT = 22

/** Draws the steps; differences stand out, the first divergence most. */
function Marks({
  side,
  comparison,
  lengthMs,
}: {
  side: 'a' | 'b'
  comparison: Comparison
  lengthMs: number
}) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  const theme = useThemeVersion()
  useEffect(() => {
    const element = canvas.current
    const context = element?.getContext('2d')
    if (element === null || context === null || context === undefined || width === 0) return
    const ratio = devicePixelRatio
    element.width = width * ratio
    element.height = TRACK_HEIGHT * ratio
    context.scale(ratio, ratio)
    const colours = readColours(box.current!, { same: '--line-strong', other: '--warn', first: '--bad' })
    const { rows, divergence } = comparison.alignment
    for (const [index, row] of rows.entries()) {
      const step = row[side]
      if (step === undefined || step.kind === 'workflow' || step.kind === 'agent') continue
      const left = (step.offsetMs / lengthMs) * width
      const right = (endOffsetMs(step) / lengthMs) * width
      const isOther = isDivergent(row)
      const look = index === divergence?.row ? 'first' : isOther ? 'other' : 'same'
      context.fillStyle = colours[look]
      context.globalAlpha = look === 'other' ? 0.45 : 1
      const inset = look === 'first' ? 2 : look === 'other' ? 6 : 8
      context.fillRect(left, inset, Math.max(2, right - left - 1), TRACK_HEIGHT - 2 * inset)
    }
  }, [comparison, lengthMs, side, width, theme])
  return (
    <div ref={box} className="side-marks">
      <canvas ref={canvas} style={{ width: '100%', height: TRACK_HEIGHT }} aria-hidden="true" />
    </div>
  )
}
