import { monitorStates, type SessionSummary } from '@playhead/model'
import type { WatchedMonitor } from './monitor-store.ts'

/** Names that get series of their own; sessions with other names count as "other", so that nobody's names fill a Prometheus. */
const MOST_NAMES = 200
const MOST_PROJECTS = 50
const MOST_MONITORS = 200
const MAX_LABEL_LENGTH = 100
export const OTHER = 'other'
/** A session that ended longer ago is history that somebody sent, restored or computed again. */
const COUNTED_FOR_MS = 3_600_000
/** Sessions that are remembered, so that a late span does not count one twice. */
const MOST_REMEMBERED = 100_000

const bucketsSeconds = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800]
const tokenKinds = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning'] as const

type Series = {
  project: string
  name: string
  ended: Map<string, number>
  cost: number
  unpriced: number
  tokens: Map<string, number>
  buckets: number[]
  durationCount: number
  durationSum: number
}

/** Counts sessions as they end, for Prometheus. Counters begin at zero with the process, as Prometheus expects it. */
export class SessionMetrics {
  readonly #series = new Map<string, Series>()
  readonly #projects = new Set<string>()
  readonly #names = new Set<string>()
  readonly #counted = new Set<string>()

  /** Counts sessions that have ended, each once. */
  count(project: string, summaries: readonly SessionSummary[], nowMs: number): void {
    for (const summary of summaries) {
      const key = `${project}\0${summary.id}`
      const endedAtMs = Date.parse(summary.endedAt ?? summary.startedAt)
      if (this.#counted.has(key) || nowMs - endedAtMs > COUNTED_FOR_MS || summary.endState === 'running')
        continue
      this.#counted.add(key)
      if (this.#counted.size > MOST_REMEMBERED) this.#counted.delete(this.#counted.values().next().value!)
      addTo(this.#seriesOf(project, summary.name), summary)
    }
  }

  /** In the text format of Prometheus, for the projects that the caller may read. */
  render(mayRead: (project: string) => boolean): string[] {
    const all = [...this.#series.values()].filter(({ project }) => mayRead(project))
    const lines = (name: string, type: string, help: string, samples: string[]) =>
      samples.length === 0
        ? []
        : [`# HELP playhead_${name} ${help}`, `# TYPE playhead_${name} ${type}`, ...samples]
    return [
      ...lines('sessions_total', 'counter', 'Sessions that ended.', all.flatMap(renderEnded)),
      ...lines(
        'session_cost_dollars_total',
        'counter',
        'Cost of sessions that ended, in US dollars, as far as prices are known.',
        all.map((one) => `playhead_session_cost_dollars_total${labels(one)} ${one.cost}`),
      ),
      ...lines(
        'sessions_unpriced_total',
        'counter',
        'Sessions that ended and whose cost is not complete.',
        all.map((one) => `playhead_sessions_unpriced_total${labels(one)} ${one.unpriced}`),
      ),
      ...lines(
        'session_tokens_total',
        'counter',
        'Tokens of sessions that ended.',
        all.flatMap(renderTokens),
      ),
      ...lines(
        'session_duration_seconds',
        'histogram',
        'Duration of sessions that ended.',
        all.flatMap(renderDuration),
      ),
    ]
  }

  #seriesOf(givenProject: string, givenName: string): Series {
    const project = admit(givenProject, this.#projects, MOST_PROJECTS)
    const name = givenName.slice(0, MAX_LABEL_LENGTH)
    const admitted = admit(`${project}\0${name}`, this.#names, MOST_NAMES) === OTHER ? OTHER : name
    const key = `${project}\0${admitted}`
    const known = this.#series.get(key)
    if (known !== undefined) return known
    const series: Series = {
      project,
      name: admitted,
      ended: new Map(),
      cost: 0,
      unpriced: 0,
      tokens: new Map(),
      buckets: bucketsSeconds.map(() => 0),
      durationCount: 0,
      durationSum: 0,
    }
    this.#series.set(key, series)
    return series
  }
}

/** First come, first served: a series that was there once stays. */
function admit(name: string, admitted: Set<string>, most: number): string {
  if (admitted.has(name)) return name
  if (admitted.size >= most) return OTHER
  admitted.add(name)
  return name
}

function addTo(series: Series, { endState, cost, usage, durationMs, ...summary }: SessionSummary): void {
  add(series.ended, endState, 1)
  series.cost += cost ?? 0
  const isComplete =
    summary.unpricedModels.length === 0 &&
    summary.modelsWithoutUsage === undefined &&
    summary.modelsWithoutOutput === undefined
  if (!isComplete) series.unpriced += 1
  for (const kind of tokenKinds) if (usage[kind] !== undefined) add(series.tokens, kind, usage[kind])
  if (durationMs === null) return
  const seconds = durationMs / 1_000
  series.durationCount += 1
  series.durationSum += seconds
  bucketsSeconds.forEach((limit, index) => {
    if (seconds <= limit) series.buckets[index]! += 1
  })
}

function add(counts: Map<string, number>, key: string, value: number): void {
  counts.set(key, (counts.get(key) ?? 0) + value)
}

function renderEnded(series: Series): string[] {
  return [...series.ended].map(
    ([state, count]) => `playhead_sessions_total${labels(series, { end_state: state })} ${count}`,
  )
}

function renderTokens(series: Series): string[] {
  return [...series.tokens].map(
    ([kind, count]) => `playhead_session_tokens_total${labels(series, { kind: snakeCase(kind) })} ${count}`,
  )
}

function renderDuration(series: Series): string[] {
  const name = 'playhead_session_duration_seconds'
  return [
    ...bucketsSeconds.map(
      (limit, index) => `${name}_bucket${labels(series, { le: String(limit) })} ${series.buckets[index]}`,
    ),
    `${name}_bucket${labels(series, { le: '+Inf' })} ${series.durationCount}`,
    `${name}_sum${labels(series)} ${series.durationSum}`,
    `${name}_count${labels(series)} ${series.durationCount}`,
  ]
}

/** One series for each state of each monitor; 1 marks the state that it is in. */
export function renderMonitorStates(watched: readonly WatchedMonitor[]): string[] {
  if (watched.length === 0) return []
  return [
    '# HELP playhead_monitor_state The state of each monitor: 1 for the one that it is in.',
    '# TYPE playhead_monitor_state gauge',
    ...watched
      .slice(0, MOST_MONITORS)
      .flatMap(({ project, monitor, status }) =>
        monitorStates.map(
          (state) =>
            `playhead_monitor_state${labelText({ project, monitor: monitor.id, state })} ${status.state === state ? 1 : 0}`,
        ),
      ),
  ]
}

function labels({ project, name }: Series, more: Record<string, string> = {}): string {
  return labelText({ project, name, ...more })
}

function labelText(values: Record<string, string>): string {
  const pairs = Object.entries(values).map(([label, value]) => `${label}="${escape(value)}"`)
  return `{${pairs.join(',')}}`
}

function escape(text: string): string {
  return text
    .toWellFormed()
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', ' ')
}

function snakeCase(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
