import { pickTexts } from '../ui/browser/search-params.ts'
import type { TimeRange } from '../session-filter/time-range.ts'

/** The time range in the URL. The default is the last week; `from=all` is all time. */
export type OverviewSearch = { from?: string; to?: string }

const DEFAULT_FROM = '7d'

export function overviewSearch(search: Record<string, unknown>): OverviewSearch {
  return pickTexts(search, ['from', 'to'])
}

export function rangeOfSearch({ from, to }: OverviewSearch): TimeRange {
  if (from === undefined && to === undefined) return { from: DEFAULT_FROM }
  return { ...(from !== undefined && from !== 'all' && { from }), ...(to !== undefined && { to }) }
}

export function searchOfRange({ from, to }: TimeRange): OverviewSearch {
  if (to === undefined && from === DEFAULT_FROM) return {}
  return { from: from ?? 'all', ...(to !== undefined && { to }) }
}
