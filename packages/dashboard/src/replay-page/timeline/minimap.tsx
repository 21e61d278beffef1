import { useRef, type PointerEvent } from 'react'
import { formatOffset } from '@playhead/model'
import type { TimeRange } from '../playback/time-axis.ts'
import { useReplay } from '../playback/replay-context.ts'

/** The whole session as a bar; drag the part that the timeline shows. */
export function Minimap({ view }: { view: TimeRange }) {
  const { timeline, player } = useReplay()
  const grip = useRef<{ x: number; view: TimeRange } | undefined>(undefined)
  const { durationMs } = timeline
  const percent = (timeMs: number) => (timeMs / Math.max(durationMs, 0.001)) * 100
  const onPointerMove = (event: PointerEvent<HTMLDivElement>) => {
    if (grip.current === undefined) return
    const { width } = event.currentTarget.parentElement!.getBoundingClientRect()
    const byMs = ((event.clientX - grip.current.x) / width) * durationMs
    const length = grip.current.view.endMs - grip.current.view.startMs
    const startMs = Math.min(Math.max(0, grip.current.view.startMs + byMs), durationMs - length)
    player.setView({ startMs, endMs: startMs + length })
  }
  return (
    <div className="minimap" aria-hidden="true">
      {timeline.errors.slice(0, 200).map((position) => (
        <i
          key={position}
          className="minimap-error"
          style={{ left: `${percent(timeline.startsMs[position]!)}%` }}
        />
      ))}
      <div
        className="minimap-view"
        title={`${formatOffset(view.startMs)} – ${formatOffset(view.endMs)}`}
        style={{
          left: `${percent(view.startMs)}%`,
          width: `max(6px, ${percent(view.endMs - view.startMs)}%)`,
        }}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          grip.current = { x: event.clientX, view }
        }}
        onPointerMove={onPointerMove}
        onPointerUp={() => (grip.current = undefined)}
      />
    </div>
  )
}
