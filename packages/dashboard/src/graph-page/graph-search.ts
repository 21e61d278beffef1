import { parseFilter } from '@playhead/model'
import { pickTexts } from '../ui/browser/search-params.ts'

/**
 * The parameters in the URL: the filter of the sessions list (`q`, `from`, `to`), the kind of steps (`of`), the metric, the
 * detail, and the selected node or edge (`pick`; an edge is two ids with an arrow between them).
 */
export type GraphSearch = {
  q?: string
  from?: string
  to?: string
  of?: string
  metric?: string
  detail?: string
  pick?: string
}

export function graphSearch(search: Record<string, unknown>): GraphSearch {
  return pickTexts(search, ['q', 'from', 'to', 'of', 'metric', 'detail', 'pick'])
}

export type StepSet = 'actions' | 'steps' | 'effects'
export type Metric = 'count' | 'failure' | 'cost' | 'time'

export function readStepSet(of: string | undefined): StepSet {
  return of === 'steps' || of === 'effects' ? of : 'actions'
}

export function readMetric(metric: string | undefined): Metric {
  return metric === 'failure' || metric === 'cost' || metric === 'time' ? metric : 'count'
}

/** The percentage of sessions whose paths are drawn. */
export function readDetail(detail: string | undefined): number {
  const percent = Number(detail ?? 100)
  return Number.isFinite(percent) ? Math.min(100, Math.max(10, percent)) : 100
}

/** The query parameters of the API. */
export function filterParameters({ q = '', from, to }: GraphSearch): Record<string, string | string[]> {
  return {
    ...parseFilter(q).parameters,
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  }
}

const ARROW = ' → '

export function writeNode(id: string): string {
  return id.replaceAll(/[\\→]/g, String.raw`\$&`)
}

export function writeEdge(from: string, to: string): string {
  return `${writeNode(from)}${ARROW}${writeNode(to)}`
}

/** The selected node, or the two nodes of the selected edge. */
export function readPick(
  pick: string | undefined,
): { node: string } | { edge: [string, string] } | undefined {
  if (pick === undefined) return undefined
  const at = pick.indexOf(ARROW)
  return at < 0
    ? { node: readNode(pick) }
    : { edge: [readNode(pick.slice(0, at)), readNode(pick.slice(at + ARROW.length))] }
}

function readNode(text: string): string {
  return text.replaceAll(/\\([\\→])/g, '$1')
}
