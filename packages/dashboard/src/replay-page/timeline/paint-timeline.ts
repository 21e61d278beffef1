import type { StepKind } from '@playhead/model'
import type { Lane } from './lanes.ts'
import { findCostLine, findMarks, type Mark } from './marks.ts'
import type { RunningTotals } from '../playback/running-totals.ts'
import { kindLooks } from '../../session-facts/kind-mark.tsx'
import type { TimeScale } from '../playback/time-scale.ts'
import type { Timeline } from '../playback/timeline.ts'

/** Where the lanes are, from the top of the timeline. */
export type TimelineLayout = {
  laneHeights: number[]
  laneTops: number[]
  /** Undefined when no step has a price. */
  costTop: number | undefined
  costHeight: number
  height: number
}

export const RULER_HEIGHT = 22
const COST_HEIGHT = 24
const LOW_COST_HEIGHT = 18
const FOOT = 6

/** Rows that a lane of ordinary height has room for. */
const ROWS_IN_LANE = 3
const ROW_HEIGHT = 4

/** `isLow`: on a phone, the steps need the room. */
export function layOut(
  lanes: readonly Lane[],
  { hasCost, isLow }: { hasCost: boolean; isLow: boolean },
): TimelineLayout {
  const laneHeight = isLow || lanes.length > 6 ? 14 : lanes.length <= 4 ? 20 : 17
  const costHeight = isLow ? LOW_COST_HEIGHT : COST_HEIGHT
  const laneHeights = lanes.map(
    ({ rowCount }) => laneHeight + Math.max(0, rowCount - ROWS_IN_LANE) * ROW_HEIGHT,
  )
  const laneTops: number[] = []
  let lanesEnd = RULER_HEIGHT
  for (const height of laneHeights) {
    laneTops.push(lanesEnd)
    lanesEnd += height
  }
  return {
    laneHeights,
    laneTops,
    costTop: hasCost ? lanesEnd : undefined,
    costHeight,
    height: lanesEnd + (hasCost ? costHeight : 0) + FOOT,
  }
}

export type TimelinePicture = {
  timeline: Timeline
  lanes: readonly Lane[]
  totals: RunningTotals
  scale: TimeScale
  layout: TimelineLayout
  colours: TimelineColours
}

type TimelineColours = Record<StepKind | 'error' | 'line' | 'ink' | 'idle', string>

/** The CSS variable of each colour. */
export const timelineColours = {
  error: '--bad',
  line: '--line',
  ink: '--dim',
  idle: '--line-strong',
  ...Object.fromEntries(Object.entries(kindLooks).map(([kind, { colour }]) => [kind, colour])),
} as TimelineColours

/** Draws everything except the playhead. */
export function paintTimeline(canvas: HTMLCanvasElement, picture: TimelinePicture): void {
  const { scale, layout } = picture
  const ratio = Math.min(3, devicePixelRatio)
  canvas.width = Math.max(1, Math.round(scale.widthPx * ratio))
  canvas.height = Math.max(1, Math.round(layout.height * ratio))
  const context = canvas.getContext('2d')!
  context.setTransform(ratio, 0, 0, ratio, 0, 0)
  paintIdle(context, picture)
  for (const [index, lane] of picture.lanes.entries())
    paintLane(context, picture, lane, { top: layout.laneTops[index]!, height: layout.laneHeights[index]! })
  if (layout.costTop !== undefined)
    paintCost(context, picture, { top: layout.costTop, height: layout.costHeight })
}

/** Skipped time is hatched. */
function paintIdle(context: CanvasRenderingContext2D, { scale, layout, colours }: TimelinePicture): void {
  context.strokeStyle = colours.idle
  context.lineWidth = 1
  for (const { startMs, endMs } of scale.axis.gaps) {
    const from = Math.max(-20, scale.toX(startMs))
    const to = Math.min(scale.widthPx + 20, scale.toX(endMs))
    if (to < 0 || from > scale.widthPx || to - from < 1) continue
    context.save()
    context.beginPath()
    context.rect(from, RULER_HEIGHT, to - from, layout.height - RULER_HEIGHT)
    context.clip()
    context.globalAlpha = 0.6
    context.beginPath()
    for (let x = from - layout.height; x < to; x += 6) {
      context.moveTo(x, layout.height)
      context.lineTo(x + layout.height, 0)
    }
    context.stroke()
    context.restore()
  }
}

function paintLane(
  context: CanvasRenderingContext2D,
  { timeline, scale, colours }: TimelinePicture,
  lane: Lane,
  { top, height: laneHeight }: { top: number; height: number },
): void {
  const rowHeight = (laneHeight - 6) / lane.rowCount
  // Marks of errors stick out, unless they would hide those in the next row.
  const rise = lane.rowCount > 1 ? 0 : 2
  for (const mark of findMarks(lane, timeline, scale)) {
    const isError = mark.colour === 'error'
    // A container stays behind the steps inside it, even where it failed.
    context.globalAlpha = (lane.isContainer ? (isError ? 0.55 : 0.32) : 1) * mark.busy
    context.fillStyle = colours[mark.colour]
    const y = top + 3 + mark.row * rowHeight
    const height = Math.max(2, rowHeight - (lane.rowCount > 1 ? 1 : 0))
    paintMark(context, mark, isError ? y - rise : y, isError ? height + 2 * rise : height)
  }
  context.globalAlpha = 1
}

function paintMark(context: CanvasRenderingContext2D, mark: Mark, y: number, height: number): void {
  context.beginPath()
  context.roundRect(mark.x, y, mark.width, height, Math.min(3, mark.width / 2, height / 2))
  if (mark.isTaped === true) paintHatched(context, mark, y, height)
  else context.fill()
}

/** Fills the current path: faintly, with lines across it. */
function paintHatched(context: CanvasRenderingContext2D, mark: Mark, y: number, height: number): void {
  const alpha = context.globalAlpha
  context.save()
  context.globalAlpha = alpha * 0.28
  context.fill()
  context.clip()
  context.globalAlpha = alpha
  context.strokeStyle = context.fillStyle
  context.lineWidth = 1.5
  context.beginPath()
  for (let x = mark.x - height; x < mark.x + mark.width; x += 5) {
    context.moveTo(x, y + height)
    context.lineTo(x + height, y)
  }
  context.stroke()
  context.restore()
}

function paintCost(
  context: CanvasRenderingContext2D,
  { totals, scale, colours }: TimelinePicture,
  place: { top: number; height: number },
): void {
  const corners = findCostLine(totals, scale)
  if (corners.length === 0) return
  const bottom = place.top + place.height - 3
  const height = place.height - 8
  context.beginPath()
  for (const [x, share] of corners) context.lineTo(x, bottom - share * height)
  context.strokeStyle = colours.ink
  context.lineWidth = 1.25
  context.stroke()
  context.lineTo(corners.at(-1)![0], bottom)
  context.lineTo(0, bottom)
  context.globalAlpha = 0.08
  context.fillStyle = colours.ink
  context.fill()
  context.globalAlpha = 1
}
