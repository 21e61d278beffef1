import { countOf } from '@playhead/model'
import type { MonitorPreview } from '../../api/monitors.ts'
import { formatExactTime } from '../../ui/data/age.tsx'
import { Skeleton } from '../../ui/data/skeleton.tsx'

const HEIGHT = 48

/** The figure of the last 30 days, with the times at which the monitor would have fired. */
export function PreviewChart({
  preview,
  error,
}: {
  preview: MonitorPreview | undefined
  error: Error | null
}) {
  if (error !== null)
    return (
      <p className="dialog-error" role="alert">
        {error.message}
      </p>
    )
  if (preview === undefined) return <Skeleton width="100%" />
  const { points, fired, isEstimate } = preview
  const highest = Math.max(...points.map(({ value }) => value ?? 0), Number.MIN_VALUE)
  const bars = points.map(({ value, isBad }, index) => ({
    x: index,
    height: value === null ? 0 : Math.max(value === 0 ? 0 : 1, (Math.abs(value) / highest) * (HEIGHT - 2)),
    isBad,
  }))
  const last = fired.at(-1)
  const often =
    fired.length === 0 ? 'would not have fired' : `would have fired ${countOf(fired.length, 'time')}`
  const sentence = `In the last 30 days it ${often}${last?.to === null ? ', and would fire now' : ''}.`
  return (
    <figure className="monitor-preview">
      <svg
        viewBox={`0 0 ${Math.max(1, points.length)} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={sentence}
      >
        {bars.map(({ x, height, isBad }) => (
          <rect
            key={x}
            x={x}
            width={1}
            y={isBad ? 0 : HEIGHT - height}
            height={isBad ? HEIGHT : height}
            className={isBad ? 'is-bad' : undefined}
          />
        ))}
      </svg>
      <figcaption>
        {sentence}
        {isEstimate && ' This is an estimate: lists of sessions know no arguments and no handled errors.'}
        {last !== undefined && <span className="dim"> Last on {formatExactTime(last.from)}.</span>}
      </figcaption>
    </figure>
  )
}
