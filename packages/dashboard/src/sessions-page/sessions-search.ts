import { pickTexts } from '../ui/browser/search-params.ts'

/**
 * What of the list is in the URL. `q` is the whole filter as typed: `status:fail tool:search cost:>0.01 "charged twice"`;
 * `sort` is a column, with `-` before it the other way round.
 */
export type SessionsSearch = { q?: string; from?: string; to?: string; sort?: string; trace_id?: string }

export function sessionsSearch(search: Record<string, unknown>): SessionsSearch {
  return pickTexts(search, ['q', 'from', 'to', 'sort', 'trace_id'])
}
