import {
  useEffect,
  useRef,
  useState,
  type PointerEvent as ReactPointerEvent,
  type RefObject,
  useCallback,
  type PointerEvent,
} from 'react'
import type { TimeRange } from '../playback/time-axis.ts'
import type { Player } from '../playback/player.ts'
import { panView, zoomView, type TimeScale } from '../playback/time-scale.ts'
import { positionAt, type Timeline } from '../playback/timeline.ts'
import { formatOffset, stepTitle } from '@playhead/model'

const SNAP_PX = 5
/** A smaller selection was a click. */
const MIN_SELECTION_PX = 6
const ZOOM_PER_PIXEL = 0.0025

export type Gestures = {
  /** The range being selected. */
  selection: TimeRange | null
  onPointerDown: (event: ReactPointerEvent<HTMLElement>) => void
  onPointerMove: (event: ReactPointerEvent<HTMLElement>) => void
  onPointerUp: (event: ReactPointerEvent<HTMLElement>) => void
  onDoubleClick: () => void
}

type Drag = { kind: 'scrub' } | { kind: 'select'; fromMs: number } | { kind: 'pinch'; distance: number }

/** Drag to scrub, Shift-drag to select a range, wheel or pinch to zoom, double-click to show the whole session. */
export function useTimelineGestures(
  plot: RefObject<HTMLElement | null>,
  player: Player,
  scale: TimeScale,
): Gestures {
  const [selection, setSelection] = useState<TimeRange | null>(null)
  const drag = useRef<Drag | undefined>(undefined)
  const pointers = useRef(new Map<number, number>())
  const latest = useRef(scale)
  latest.current = scale
  useWheelZoom(plot, player, latest)
  // Measuring an element forces a layout, so it is done once per drag.
  const leftPx = useRef(0)
  const xOf = (event: ReactPointerEvent<HTMLElement>) => event.clientX - leftPx.current
  const scrub = useOncePerFrame((x: number, isFree: boolean) => scrubTo(player, latest.current, x, isFree))

  return {
    selection,
    onPointerDown(event) {
      if (event.button !== 0) return
      leftPx.current = event.currentTarget.getBoundingClientRect().left
      event.currentTarget.setPointerCapture(event.pointerId)
      pointers.current.set(event.pointerId, xOf(event))
      if (pointers.current.size === 2) drag.current = { kind: 'pinch', distance: spreadOf(pointers.current) }
      else if (event.shiftKey) drag.current = { kind: 'select', fromMs: scale.toTime(xOf(event)) }
      else {
        drag.current = { kind: 'scrub' }
        scrubTo(player, scale, xOf(event), event.altKey)
      }
    },
    onPointerMove(event) {
      if (!pointers.current.has(event.pointerId)) return
      pointers.current.set(event.pointerId, xOf(event))
      const { current } = drag
      if (current?.kind === 'scrub') scrub.soon(xOf(event), event.altKey)
      else if (current?.kind === 'select')
        setSelection(rangeBetween(current.fromMs, latest.current.toTime(xOf(event))))
      else if (current?.kind === 'pinch') {
        const distance = spreadOf(pointers.current)
        const middle = [...pointers.current.values()].reduce((sum, x) => sum + x, 0) / pointers.current.size
        player.setView(zoomView(latest.current, current.distance / Math.max(10, distance), middle))
        drag.current = { kind: 'pinch', distance }
      }
    },
    onPointerUp(event) {
      pointers.current.delete(event.pointerId)
      const { current } = drag
      drag.current = undefined
      if (current?.kind === 'scrub') {
        scrub.flush()
        player.endScrub()
      }
      if (current?.kind === 'select') {
        const range = rangeBetween(current.fromMs, latest.current.toTime(xOf(event)))
        setSelection(null)
        const width = latest.current.toX(range.endMs) - latest.current.toX(range.startMs)
        if (width >= MIN_SELECTION_PX) player.setView(clamp(range, player.timeline.durationMs))
      }
    },
    onDoubleClick: () => player.setView(null),
  }
}

/** A mouse may report more places than the screen shows, and each would render the list. `flush` does at once what is due. */
function useOncePerFrame<Given extends unknown[]>(act: (...given: Given) => void) {
  const latest = useRef(act)
  latest.current = act
  const [once] = useState(() => {
    let due: Given | undefined
    let frame: number | undefined
    const flush = () => {
      if (frame !== undefined) cancelAnimationFrame(frame)
      frame = undefined
      const given = due
      due = undefined
      if (given !== undefined) latest.current(...given)
    }
    const soon = (...given: Given) => {
      due = given
      frame ??= requestAnimationFrame(flush)
    }
    return { soon, flush }
  })
  return once
}

function useWheelZoom(
  plot: RefObject<HTMLElement | null>,
  player: Player,
  latest: RefObject<TimeScale>,
): void {
  useEffect(() => {
    const element = plot.current
    if (element === null) return
    const onWheel = (event: WheelEvent) => {
      event.preventDefault()
      const isPan = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)
      const x = event.clientX - element.getBoundingClientRect().left
      player.setView(
        isPan
          ? panView(latest.current, event.deltaX || event.deltaY)
          : zoomView(latest.current, Math.exp(event.deltaY * ZOOM_PER_PIXEL * (event.ctrlKey ? 4 : 1)), x),
      )
    }
    // React's wheel listeners are passive and can't prevent the page from scrolling.
    element.addEventListener('wheel', onWheel, { passive: false })
    return () => element.removeEventListener('wheel', onWheel)
  }, [plot, player, latest])
}

/** Snaps to the start of a nearby step, unless Alt is held. */
function scrubTo(player: Player, scale: TimeScale, x: number, isFree: boolean): void {
  const timeMs = scale.toTime(Math.min(Math.max(0, x), scale.widthPx))
  const snapped = isFree ? timeMs : snapToStep(player.timeline, scale, timeMs)
  player.seek(snapped, { isScrubbing: true })
}

export function snapToStep(timeline: Timeline, scale: TimeScale, timeMs: number): number {
  const before = positionAt(timeline, timeMs)
  const x = scale.toX(timeMs)
  let nearest = timeMs
  let nearestPx = SNAP_PX
  for (const position of [before, before + 1]) {
    const startMs = timeline.startsMs[position]
    if (startMs === undefined) continue
    const distancePx = Math.abs(scale.toX(startMs) - x)
    if (distancePx <= nearestPx) [nearest, nearestPx] = [startMs, distancePx]
  }
  return nearest
}

function rangeBetween(leftMs: number, rightMs: number): TimeRange {
  return { startMs: Math.min(leftMs, rightMs), endMs: Math.max(leftMs, rightMs) }
}

function clamp({ startMs, endMs }: TimeRange, durationMs: number): TimeRange {
  return { startMs: Math.max(0, startMs), endMs: Math.min(durationMs, endMs) }
}

function spreadOf(pointers: ReadonlyMap<number, number>): number {
  const [first = 0, second = 0] = pointers.values()
  return Math.abs(first - second)
}

/** Shows the time and step under the pointer without moving the playhead. */
export function useHoverLine(
  line: RefObject<HTMLDivElement | null>,
  player: Player,
  scale: TimeScale,
): (event: PointerEvent<HTMLElement>) => void {
  const leftPx = useRef(0)
  return useCallback(
    (event) => {
      const element = line.current
      if (element === null || event.pointerType === 'touch') return
      // While dragging, the playhead itself shows the time.
      if (event.buttons !== 0) return element.setAttribute('hidden', '')
      if (element.hasAttribute('hidden')) leftPx.current = event.currentTarget.getBoundingClientRect().left
      const x = event.clientX - leftPx.current
      const timeMs = scale.toTime(x)
      const step = player.timeline.steps[positionAt(player.timeline, timeMs)]
      element.removeAttribute('hidden')
      element.style.transform = `translateX(${x}px)`
      element.dataset.side = x > scale.widthPx / 2 ? 'left' : 'right'
      element.firstElementChild!.textContent = `${formatOffset(timeMs)}${step === undefined ? '' : `  ${stepTitle(step)}`}`
    },
    [line, player, scale],
  )
}
