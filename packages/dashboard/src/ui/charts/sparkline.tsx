import './sparkline.css'

type SparklineProps = {
  values: readonly (number | null)[]
  label: string
  color?: string
}

const HEIGHT = 20

/** A small line chart without axes; `label` describes it for screen readers. */
export function Sparkline({ values, label, color = 'var(--accent)' }: SparklineProps) {
  const known = values.flatMap((value, index) => (value === null ? [] : [{ value, index }]))
  if (known.length === 0 || values.length < 2) return <span className="sparkline" />
  const highest = Math.max(...known.map(({ value }) => value), Number.MIN_VALUE)
  const width = values.length - 1
  const points = known.map(({ value, index }) => `${index},${HEIGHT - 1 - (value / highest) * (HEIGHT - 2)}`)
  // A single value is a dot: a line of length 0 with round caps.
  if (points.length === 1) points.push(points[0]!)
  return (
    <svg
      className={known.length === 1 ? 'sparkline is-dot' : 'sparkline'}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      <polyline points={points.join(' ')} style={{ stroke: color }} />
    </svg>
  )
}
