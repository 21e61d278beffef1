import {
  describeEndState,
  endStates,
  formatCost,
  formatCount,
  formatDuration,
  showScore,
  type StatsFigures,
  type Stats,
} from '@playhead/model'
import { useState, type ReactNode } from 'react'
import { fillBuckets, type Bucket } from '../ui/charts/fill-buckets.ts'
import { noFigures } from '../api/stats.ts'
import { endStateColors, endStateIcons } from '../session-facts/end-state.tsx'
import { formatShare } from '../ui/charts/share-bar.tsx'
import { BucketChart, type Brush } from '../ui/charts/bucket-chart.tsx'
import { brushedBuckets, highestOf, type Series } from '../ui/charts/chart-geometry.ts'
import { Skeleton } from '../ui/data/skeleton.tsx'
import { isoTime, resolveRange, type TimeRange } from '../session-filter/time-range.ts'
import { useNow } from '../ui/browser/use-now.ts'
import './session-charts.css'

type SessionChartsProps = {
  stats: Stats | undefined
  /** The score that the filter is about. */
  scoreName: string | undefined
  range: TimeRange
  onZoom: (range: TimeRange) => void
  onState: (state: string) => void
}

/** What one of the charts shows. */
type ChartKind = {
  title: string
  kind: 'bars' | 'line'
  series: (buckets: readonly Bucket[]) => Series[]
  value: (figures: StatsFigures) => number | null
  format: (value: number) => string
}

const charts: readonly ChartKind[] = [
  {
    title: 'Sessions',
    kind: 'bars',
    series: (buckets) =>
      endStates.map((state) => ({
        name: state,
        color: endStateColors[state],
        values: buckets.map(({ figures }) => figures?.[state] ?? 0),
      })),
    value: ({ total }) => total,
    format: formatCount,
  },
  singleSeries('Failure rate', 'line', 'var(--bad)', ({ failureRate }) => failureRate, formatShare),
  singleSeries('Cost', 'bars', 'var(--kind-action)', ({ cost }) => cost, formatCost),
  singleSeries('p95 duration', 'line', 'var(--kind-llm)', ({ durationMs }) => durationMs.p95, formatDuration),
]

function singleSeries(
  title: string,
  kind: 'bars' | 'line',
  color: string,
  value: ChartKind['value'],
  format: ChartKind['format'],
): ChartKind {
  const values = (buckets: readonly Bucket[]) =>
    buckets.map(({ figures }) => (figures === undefined ? null : value(figures)))
  return {
    title,
    kind,
    value,
    format,
    series: (buckets) => [{ name: title, color, values: values(buckets) }],
  }
}

/** The mean of the score that the filter is about, if it has numbers. */
function scoreChart(name: string): ChartKind {
  const value = ({ score }: StatsFigures) => score?.mean ?? null
  return singleSeries(`Mean ${name}`, 'line', 'var(--kind-retrieval)', value, showScore)
}

/** Charts of the same period: end states, failure rate, cost and duration, and the score of the filter. */
export function SessionCharts({ stats, scoreName, range, onZoom, onState }: SessionChartsProps) {
  const hasScore = scoreName !== undefined && stats?.score?.mean !== undefined && stats.score.mean !== null
  const shown = hasScore ? [...charts, scoreChart(scoreName)] : charts
  const [hovered, setHovered] = useState<number>()
  const [brush, setBrush] = useState<Brush>()
  const now = useNow()
  const buckets =
    stats?.interval === undefined ? [] : fillBuckets(stats.buckets, stats.interval, resolveRange(range, now))
  const under = hovered === undefined ? undefined : buckets[hovered]
  const figures = under === undefined ? stats : (under.figures ?? noFigures)
  const zoom = (over: Brush) => {
    const chosen = brushedBuckets(over.from, over.to, buckets.length)
    if (chosen === undefined) return
    onZoom({ from: isoTime(buckets[chosen.first]!.startMs), to: isoTime(buckets[chosen.last]!.endMs) })
  }
  return (
    <section className="session-charts" data-count={shown.length} aria-label="Charts">
      {shown.map((chart, index) => {
        const series = chart.series(buckets)
        return (
          <Panel key={chart.title} chart={chart} series={series} figures={figures} under={under}>
            <BucketChart
              label={describeChart(chart, series, stats)}
              series={series}
              count={buckets.length}
              kind={chart.kind}
              hovered={hovered}
              onHover={setHovered}
              brush={brush}
              onBrush={setBrush}
              onBrushed={zoom}
            />
            {index === 0 ? <Legend figures={figures} onState={onState} /> : <Axis buckets={buckets} />}
          </Panel>
        )
      })}
    </section>
  )
}

type PanelProps = {
  chart: ChartKind
  series: readonly Series[]
  figures: StatsFigures | undefined
  /** The bucket under the pointer. */
  under: Bucket | undefined
  children: ReactNode
}

/** A chart with its title and figure, which is that of the bucket under the pointer, if any. */
function Panel({ chart, series, figures, under, children }: PanelProps) {
  const value = figures === undefined ? undefined : chart.value(figures)
  const highest = highestOf(series, chart.kind === 'bars')
  return (
    <figure className="chart-panel">
      <figcaption>
        <span className="chart-title">{chart.title}</span>
        <strong>
          {value === undefined ? <Skeleton width={46} /> : value === null ? '–' : chart.format(value)}
        </strong>
        <span className="chart-note">
          {under !== undefined ? formatBucket(under) : highest > 0 ? `max ${chart.format(highest)}` : ''}
        </span>
      </figcaption>
      {children}
    </figure>
  )
}

type LegendProps = { figures: StatsFigures | undefined; onState: (state: string) => void }

function Legend({ figures, onState }: LegendProps) {
  return (
    <ul className="chart-legend" aria-label="End states">
      {endStates.map((state) => {
        const Icon = endStateIcons[state]
        const count = figures?.[state]
        return (
          <li key={state} data-none={count === 0}>
            <button type="button" title={`Show only ${state}`} onClick={() => onState(state)}>
              <Icon size={12} aria-hidden="true" style={{ color: endStateColors[state] }} />
              <span className="chart-state">{describeEndState(state)} </span>
              {count === undefined ? <Skeleton width={10} /> : formatCount(count)}
            </button>
          </li>
        )
      })}
    </ul>
  )
}

function Axis({ buckets }: { buckets: readonly Bucket[] }) {
  const [first, last] = [buckets[0], buckets.at(-1)]
  return (
    <p className="chart-axis" aria-hidden="true">
      <span>{first === undefined ? '' : formatBucket(first)}</span>
      <span>{last === undefined ? '' : formatBucket(last)}</span>
    </p>
  )
}

/** Describes the chart for screen readers. */
function describeChart(
  { title, format }: ChartKind,
  series: readonly Series[],
  stats: Stats | undefined,
): string {
  if (stats === undefined) return `${title} over time: loading.`
  if (series.length > 1) {
    const counts = endStates.map((state) => `${stats[state]} ${state}`)
    return `${title} over time, by end state: ${counts.join(', ')}.`
  }
  const known = series.flatMap(({ values }) => values.filter((value) => value !== null))
  if (known.length === 0) return `${title} over time: no data yet.`
  const [lowest, highest, last] = [Math.min(...known), Math.max(...known), known.at(-1)!]
  return `${title} over time: from ${format(lowest)} to ${format(highest)}, last ${format(last)}.`
}

const DAY_MS = 86_400_000
const clock = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
})
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })

function formatBucket({ startMs, endMs }: Bucket): string {
  return (endMs - startMs >= DAY_MS * 0.9 ? day : clock).format(startMs)
}
