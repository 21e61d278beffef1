import type { PointerEvent } from 'react'
import { highestOf, stackBars, stepPath, type Series } from './chart-geometry.ts'
import './bucket-chart.css'

export type Brush = { from: number; to: number }

type BucketChartProps = {
  /** What the chart shows, for screen readers. */
  label: string
  series: readonly Series[]
  count: number
  kind: 'bars' | 'line'
  /** The bucket under the pointer; the charts of a row share it. */
  hovered: number | undefined
  onHover: (index: number | undefined) => void
  /** The range being dragged, as shares of the width. */
  brush?: Brush | undefined
  onBrush?: (brush: Brush | undefined) => void
  onBrushed?: (brush: Brush) => void
}

const HEIGHT = 100
/** Keeps a line at the maximum from being clipped. */
const HEADROOM = 4
const GAP = 0.16

/** Bars or a line over buckets of time. */
export function BucketChart({ label, series, count, kind, hovered, ...brushing }: BucketChartProps) {
  const highest = highestOf(series, kind === 'bars')
  const handlers = useBrushing(count, brushing)
  const { brush } = brushing
  return (
    <div className="bucket-chart" role="img" aria-label={label} {...handlers}>
      <svg
        viewBox={`0 ${-HEADROOM} ${Math.max(count, 1)} ${HEIGHT + HEADROOM}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {hovered !== undefined && (
          <rect
            className="bucket-chart-hover"
            x={hovered}
            y={-HEADROOM}
            width={1}
            height={HEIGHT + HEADROOM}
          />
        )}
        {kind === 'bars' ? (
          <Bars series={series} highest={highest} />
        ) : (
          series.map((line) => (
            <path
              key={line.name}
              className="bucket-chart-line"
              d={stepPath(line.values, highest, HEIGHT)}
              style={{ stroke: line.color }}
            />
          ))
        )}
      </svg>
      {brush !== undefined && (
        <span
          className="bucket-chart-brush"
          style={{
            left: `${Math.min(brush.from, brush.to) * 100}%`,
            width: `${Math.abs(brush.to - brush.from) * 100}%`,
          }}
        />
      )}
    </div>
  )
}

function Bars({ series, highest }: { series: readonly Series[]; highest: number }) {
  return stackBars(series, highest).map((bar) => (
    <rect
      key={`${bar.series}-${bar.index}`}
      x={bar.index + GAP / 2}
      width={1 - GAP}
      y={(1 - bar.bottom - bar.height) * HEIGHT}
      height={bar.height * HEIGHT}
      style={{ fill: series[bar.series]!.color }}
    />
  ))
}

type Brushing = Pick<BucketChartProps, 'onHover' | 'brush' | 'onBrush' | 'onBrushed'>

/** A drag shorter than this is a click. */
const SHORTEST_DRAG_PX = 5

function useBrushing(count: number, { onHover, brush, onBrush, onBrushed }: Brushing) {
  const shareOf = (event: PointerEvent<HTMLElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    return Math.max(0, Math.min(1, (event.clientX - box.left) / box.width))
  }
  return {
    onPointerDown(event: PointerEvent<HTMLElement>) {
      if (onBrush === undefined || event.button !== 0 || count === 0) return
      event.currentTarget.setPointerCapture(event.pointerId)
      const share = shareOf(event)
      onBrush({ from: share, to: share })
    },
    onPointerMove(event: PointerEvent<HTMLElement>) {
      const share = shareOf(event)
      if (count > 0) onHover(Math.min(count - 1, Math.floor(share * count)))
      if (brush !== undefined) onBrush?.({ from: brush.from, to: share })
    },
    onPointerUp(event: PointerEvent<HTMLElement>) {
      if (brush === undefined) return
      const isDrag = Math.abs(brush.to - brush.from) * event.currentTarget.clientWidth >= SHORTEST_DRAG_PX
      onBrush?.(undefined)
      if (isDrag) onBrushed?.(brush)
    },
    onPointerCancel: () => onBrush?.(undefined),
    onPointerLeave: () => onHover(undefined),
  }
}
