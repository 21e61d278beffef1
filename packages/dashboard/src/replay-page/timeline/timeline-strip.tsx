import { useEffect, useLayoutEffect, useMemo, useRef, type RefObject } from 'react'
import { formatCost, formatDuration, formatOffset, stepTitle, visibleText } from '@playhead/model'
import { readColours, useThemeVersion } from '../../ui/browser/theme.ts'
import { NARROW, useMediaQuery } from '../../ui/browser/use-media-query.ts'
import { useWidth } from '../../ui/browser/use-width.ts'
import { ErrorMarks } from './error-marks.tsx'
import { createLanes } from './lanes.ts'
import { Minimap } from './minimap.tsx'
import {
  layOut,
  paintTimeline,
  RULER_HEIGHT,
  timelineColours,
  type TimelinePicture,
} from './paint-timeline.ts'
import { isAtRest, usePlayerState, useReplay } from '../playback/replay-context.ts'
import { createTimeScale, findTicks, type TimeScale } from '../playback/time-scale.ts'
import { useHoverLine, useTimelineGestures } from './gestures.ts'
import './timeline-strip.css'

/** Closer to the end, a tick label would be cut off. */
const LABEL_ROOM_PX = 36
const TAPE_LABEL_PX = 64
/** Longer sessions show their steps before the timeline is painted. */
const PAINTED_FIRST_UP_TO = 10_000
/** By then the frame with the list is on the screen. */
const SHOWN_WITHIN_MS = 50

/** The whole session at a glance: a lane for each agent and kind, errors, cost so far and the playhead. */
export function TimelineStrip() {
  const { timeline, totals, axis } = useReplay()
  const plot = useRef<HTMLDivElement>(null)
  const widthPx = useWidth(plot)
  const view = usePlayerState((state) => state.view)
  const { durationMs, startsMs } = timeline
  // While a running session waits, only its duration changes.
  const lanes = useMemo(() => createLanes(timeline), [startsMs])
  const isLow = useMediaQuery(NARROW)
  const layout = useMemo(() => layOut(lanes, { hasCost: totals.hasCost, isLow }), [lanes, totals, isLow])
  const scale = useMemo(
    () => createTimeScale(axis, view ?? { startMs: 0, endMs: durationMs }, widthPx),
    [axis, view, durationMs, widthPx],
  )
  const total = totals.cost.at(-1)
  return (
    <section className="timeline" aria-label="Timeline">
      {view !== null && <Minimap view={view} />}
      <div className="timeline-lanes" style={{ height: layout.height }}>
        <div className="timeline-labels" aria-hidden="true">
          {lanes.map((lane, index) => (
            <span
              key={lane.id}
              style={{ top: layout.laneTops[index], height: layout.laneHeights[index] }}
              title={lane.label}
            >
              {lane.label}
            </span>
          ))}
          {layout.costTop !== undefined && (
            <span style={{ top: layout.costTop, height: layout.costHeight }} title="Cost so far">
              {total === undefined ? 'Cost' : formatCost(total)}
            </span>
          )}
        </div>
        <Plot plot={plot} picture={{ timeline, lanes, totals, scale, layout }} />
        <ErrorMarks scale={scale} />
        <SuspectMarks scale={scale} />
      </div>
    </section>
  )
}

type PlotProps = { plot: RefObject<HTMLDivElement | null>; picture: Omit<TimelinePicture, 'colours'> }

function Plot({ plot, picture }: PlotProps) {
  const { player } = useReplay()
  const { scale, layout } = picture
  const canvas = useRef<HTMLCanvasElement>(null)
  const hover = useRef<HTMLDivElement>(null)
  const gestures = useTimelineGestures(plot, player, scale)
  const onHover = useHoverLine(hover, player, scale)
  const themeVersion = useThemeVersion()
  const { selection, ...handlers } = gestures
  usePaint(
    canvas,
    picture.timeline.steps.length > PAINTED_FIRST_UP_TO,
    () => {
      if (canvas.current !== null && scale.widthPx > 1)
        paintTimeline(canvas.current, {
          ...picture,
          colours: readColours(canvas.current.parentElement!, timelineColours),
        })
    },
    [picture.timeline, picture.lanes, picture.totals, scale, layout, themeVersion],
  )
  useSliderValue(plot)
  return (
    <div
      ref={plot}
      className="timeline-plot"
      role="slider"
      tabIndex={0}
      aria-label="Playhead"
      aria-orientation="horizontal"
      {...handlers}
      onPointerMove={(event) => {
        handlers.onPointerMove(event)
        onHover(event)
      }}
      onPointerLeave={() => hover.current?.setAttribute('hidden', '')}
    >
      <Ticks scale={scale} />
      <IdleLabels scale={scale} />
      <canvas ref={canvas} className="timeline-canvas" style={{ height: layout.height }} />
      {selection !== null && (
        <div
          className="timeline-selection"
          style={{
            left: scale.toX(selection.startMs),
            width: scale.toX(selection.endMs) - scale.toX(selection.startMs),
          }}
        />
      )}
      <TapeEnd scale={scale} />
      <PlayheadLine scale={scale} />
      <div ref={hover} className="timeline-hover" hidden>
        <span />
      </div>
    </div>
  )
}

/** Paints with each change. When a long session opens, the list is shown before: painting takes as long as rendering the rows. */
function usePaint(
  canvas: RefObject<HTMLCanvasElement | null>,
  isLong: boolean,
  paint: () => void,
  changes: readonly unknown[],
): void {
  const isShown = useRef(false)
  useLayoutEffect(() => {
    if (isShown.current || !isLong || canvas.current === null) return paint()
    let timer: ReturnType<typeof setTimeout> | undefined
    const frame = requestAnimationFrame(() => {
      timer = setTimeout(() => {
        isShown.current = true
        paint()
      }, SHOWN_WITHIN_MS)
    })
    return () => {
      cancelAnimationFrame(frame)
      clearTimeout(timer)
    }
  }, changes)
}

function Ticks({ scale }: { scale: TimeScale }) {
  return findTicks(scale).map((tick) => (
    <span key={tick.timeMs} className="timeline-tick" style={{ left: tick.x }}>
      {tick.x < scale.widthPx - LABEL_ROOM_PX && tick.label}
    </span>
  ))
}

function IdleLabels({ scale }: { scale: TimeScale }) {
  return scale.axis.gaps.map(({ startMs, endMs }) => {
    const from = scale.toX(startMs)
    const width = scale.toX(endMs) - from
    if (width < 26 || from + width < 0 || from > scale.widthPx) return null
    return (
      <span key={startMs} className="timeline-idle" style={{ left: from, width, top: RULER_HEIGHT }}>
        {formatDuration(endMs - startMs)}
      </span>
    )
  })
}

/** Where the tape of a re-run ended and the live part began. */
function TapeEnd({ scale }: { scale: TimeScale }) {
  const { tapeEnd, startsMs } = useReplay().timeline
  const x = tapeEnd === undefined ? -1 : scale.toX(startsMs[tapeEnd]!)
  if (x < 0 || x > scale.widthPx) return null
  const isNearEnd = x > scale.widthPx - TAPE_LABEL_PX
  return (
    <span className={`timeline-tape-end${isNearEnd ? ' is-near-end' : ''}`} style={{ left: x }}>
      <span>tape ends</span>
    </span>
  )
}

/** Moves without React, to keep 60 frames a second. */
function PlayheadLine({ scale }: { scale: TimeScale }) {
  const { player } = useReplay()
  const line = useRef<HTMLDivElement>(null)
  const ahead = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const place = () => {
      const state = player.getState()
      const x = Math.round(scale.toX(state.positionMs) * 2) / 2
      const shown = Math.min(Math.max(x, -8), scale.widthPx + 8)
      line.current!.style.transform = `translateX(${shown}px)`
      line.current!.style.visibility = x < -1 || x > scale.widthPx + 1 ? 'hidden' : 'visible'
      ahead.current!.style.transform = `translateX(${Math.max(0, shown)}px)`
      ahead.current!.style.visibility = isAtRest(state) ? 'hidden' : 'visible'
    }
    place()
    return player.subscribe(place)
  }, [player, scale])
  return (
    <>
      <div ref={ahead} className="timeline-ahead" />
      <div ref={line} className="timeline-playhead" />
    </>
  )
}

const ANNOUNCED_EVERY_MS = 150

/** Announces the playhead to screen readers, no more often than they can read it out. */
function useSliderValue(plot: RefObject<HTMLDivElement | null>): void {
  const { player } = useReplay()
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const announce = () => {
      timer = undefined
      const { positionMs, stepId } = player.getState()
      const { timeline } = player
      const position = stepId === undefined ? undefined : timeline.positionOf.get(stepId)
      const step = position === undefined ? undefined : timeline.steps[position]
      const place =
        step === undefined ? '' : `, step ${position! + 1} of ${timeline.steps.length}, ${stepTitle(step)}`
      const slider = plot.current
      slider?.setAttribute('aria-valuemin', '0')
      slider?.setAttribute('aria-valuemax', String(Math.round(timeline.durationMs)))
      slider?.setAttribute('aria-valuenow', String(Math.round(positionMs)))
      slider?.setAttribute(
        'aria-valuetext',
        `${formatOffset(positionMs)} of ${formatOffset(timeline.durationMs)}${place}`,
      )
    }
    announce()
    const unsubscribe = player.subscribe(() => (timer ??= setTimeout(announce, ANNOUNCED_EVERY_MS)))
    return () => {
      unsubscribe()
      clearTimeout(timer)
    }
  }, [player, plot])
}

/** The suspects in the ruler, by rank. Not in the tab order: the key W goes from suspect to suspect. */
function SuspectMarks({ scale }: { scale: TimeScale }) {
  const { timeline, suspects, goTo } = useReplay()
  return (
    <div className="timeline-suspects">
      {suspects.map(({ stepId, sentence }, index) => {
        const position = timeline.positionOf.get(stepId)
        const x = position === undefined ? -1 : scale.toX(timeline.startsMs[position]!)
        if (x < 0 || x > scale.widthPx) return null
        const label = `Suspect ${index + 1}: ${visibleText(sentence)}`
        return (
          <button
            key={stepId}
            type="button"
            tabIndex={-1}
            className="timeline-suspect"
            style={{ left: x }}
            aria-label={label}
            title={label}
            onClick={() => goTo(stepId)}
          >
            {index + 1}
          </button>
        )
      })}
    </div>
  )
}
