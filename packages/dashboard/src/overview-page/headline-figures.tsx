import { Link } from '@tanstack/react-router'
import { ArrowDown, ArrowUp, Equal } from 'lucide-react'
import { formatCost, formatCount, formatDuration, type StatsFigures, type Stats } from '@playhead/model'
import { fillBuckets } from '../ui/charts/fill-buckets.ts'
import { noFigures } from '../api/stats.ts'
import { formatShare } from '../ui/charts/share-bar.tsx'
import { Skeleton } from '../ui/data/skeleton.tsx'
import { Sparkline } from '../ui/charts/sparkline.tsx'
import { resolveRange, type TimeRange } from '../session-filter/time-range.ts'
import './headline-figures.css'

type Headline = {
  title: string
  read: (figures: StatsFigures) => number | null
  format: (value: number) => string
  change?: typeof changeOf
  /** Whether an increase is bad; undefined if it is neither good nor bad. */
  isMoreWorse?: boolean
  color: string
  /** The sessions behind the figure. */
  link: { q?: string; sort?: string }
}

const headlines: readonly Headline[] = [
  {
    title: 'Sessions',
    read: ({ total }) => total,
    format: formatCount,
    color: 'var(--accent)',
    link: {},
  },
  {
    title: 'Failure rate',
    read: ({ failureRate }) => failureRate,
    format: formatShare,
    change: pointsOf,
    isMoreWorse: true,
    color: 'var(--bad)',
    link: { q: 'status:fail' },
  },
  {
    title: 'Cost',
    read: ({ cost }) => cost,
    format: formatCost,
    isMoreWorse: true,
    color: 'var(--kind-action)',
    link: { sort: 'cost' },
  },
  {
    title: 'Duration, p50',
    read: ({ durationMs }) => durationMs.p50,
    format: formatDuration,
    isMoreWorse: true,
    color: 'var(--kind-llm)',
    link: { sort: 'duration' },
  },
  {
    title: 'Duration, p95',
    read: ({ durationMs }) => durationMs.p95,
    format: formatDuration,
    isMoreWorse: true,
    color: 'var(--kind-llm)',
    link: { sort: 'duration' },
  },
]

type HeadlineFiguresProps = {
  now: Stats | undefined
  /** Undefined while it loads; null for all time, which has no previous period. */
  before: Stats | undefined | null
  range: TimeRange
  nowMs: number
}

export function HeadlineFigures({ now, before, range, nowMs }: HeadlineFiguresProps) {
  const timeline =
    now?.interval === undefined
      ? []
      : fillBuckets(now.buckets, now.interval, resolveRange(range, nowMs)).map(
          ({ figures }) => figures ?? noFigures,
        )
  return (
    <ul className="headlines" aria-label="Key figures">
      {headlines.map((headline) => (
        <li key={headline.title}>
          <Link to="/sessions" search={{ ...range, ...headline.link }} className="headline">
            <span className="headline-title">{headline.title}</span>
            <HeadlineValue headline={headline} now={now} before={before} course={timeline} />
          </Link>
        </li>
      ))}
    </ul>
  )
}

function HeadlineValue({
  headline,
  now,
  before,
  course,
}: { headline: Headline; course: readonly StatsFigures[] } & Pick<HeadlineFiguresProps, 'now' | 'before'>) {
  if (now === undefined) return <Skeleton width="50%" height={22} />
  const { read, format, change = changeOf } = headline
  const value = read(now)
  const hadNothing = before !== undefined && before !== null && before.total === 0
  const changed: Change | undefined =
    before === undefined || before === null
      ? undefined
      : hadNothing
        ? { kind: 'none-before' }
        : change(value, read(before))
  const curve = course.map(read)
  return (
    <>
      <span className="headline-value">{value === null ? '–' : format(value)}</span>
      <span className="headline-change">
        {before === null ? (
          'all time'
        ) : changed === undefined ? (
          <Skeleton width={80} />
        ) : (
          describe(changed, headline)
        )}
      </span>
      <Sparkline
        values={curve}
        color={headline.color}
        label={`${headline.title} over time, ${curve.length} points`}
      />
    </>
  )
}

function describe(change: Change, { isMoreWorse }: Headline) {
  if (change.kind === 'none-before') return 'no earlier data'
  if (change.kind === 'same')
    return (
      <>
        <Equal size={12} aria-hidden="true" /> no change
      </>
    )
  const Arrow = change.kind === 'up' ? ArrowUp : ArrowDown
  const isWorse = isMoreWorse === true && change.kind === 'up'
  const isBetter = isMoreWorse === true && change.kind === 'down'
  const mood = !change.isLarge ? '' : isWorse ? 'is-worse' : isBetter ? 'is-better' : ''
  return (
    <span className={mood} title="Compared with the previous period">
      <Arrow size={12} aria-hidden="true" />
      <span className="visually-hidden">{change.kind} by </span>
      {change.text}
      <span className="visually-hidden"> from the previous period</span>
    </span>
  )
}

/** How a figure changed since the previous period. */
type Change =
  | { kind: 'none-before' }
  | { kind: 'same' }
  | { kind: 'up' | 'down'; text: string; isLarge: boolean }

/** A change below this is noise. */
const SMALLEST = 0.005
const LARGE = 0.2

/** A relative change: "12%", or "3.4×" for large increases. */
export function changeOf(now: number | null, before: number | null): Change {
  if (now === null || before === null || before === 0) return { kind: 'none-before' }
  const ratio = now / before - 1
  if (Math.abs(ratio) < SMALLEST) return { kind: 'same' }
  const text = ratio >= 2 ? `${(ratio + 1).toFixed(1)}×` : formatShare(Math.abs(ratio))
  return { kind: ratio > 0 ? 'up' : 'down', text, isLarge: Math.abs(ratio) >= LARGE }
}

/** A change of a rate, in percentage points. */
export function pointsOf(now: number | null, before: number | null): Change {
  if (now === null || before === null) return { kind: 'none-before' }
  const points = (now - before) * 100
  if (Math.abs(points) < 0.05) return { kind: 'same' }
  const size = Math.abs(points)
  return {
    kind: points > 0 ? 'up' : 'down',
    text: `${size.toFixed(size < 10 ? 1 : 0)} points`,
    isLarge: size >= 5,
  }
}
