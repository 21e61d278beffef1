import { pickTexts } from '../ui/browser/search-params.ts'

/**
 * The parameters of the list in the URL. `q` is the filter as typed: `status:fail tool:search cost:>0.01 "charged twice"`;
 * `sort` is a column, with `-` for ascending order.
 */
export type SessionsSearch = { q?: string; from?: string; to?: string; sort?: string; trace_id?: string }

export function sessionsSearch(search: Record<string, unknown>): SessionsSearch {
  return pickTexts(search, ['q', 'from', 'to', 'sort', 'trace_id'])
}

const sortColumns = ['time', 'cost', 'duration', 'steps', 'errors', 'tokens'] as const
export type SortColumn = (typeof sortColumns)[number] | `score:${string}`
export type SortOrder = { column: SortColumn; isAscending: boolean }

/** `cost` is most expensive first, `-cost` cheapest first; anything unknown is newest first. */
export function parseSort(text: string | undefined): SortOrder {
  const isAscending = text?.startsWith('-') === true
  const name = isAscending ? text.slice(1) : text
  const column = name?.startsWith('score:')
    ? (name as SortColumn)
    : sortColumns.find((known) => known === name)
  return column === undefined ? { column: 'time', isAscending: false } : { column, isAscending }
}

/** The value for the address; undefined for newest first. */
export function writeSort({ column, isAscending }: SortOrder): string | undefined {
  if (column === 'time' && !isAscending) return undefined
  return isAscending ? `-${column}` : column
}

/** The order after a click on a column heading: descending first, then alternating. */
export function toggleSort(current: SortOrder, column: SortColumn): SortOrder {
  return { column, isAscending: current.column === column ? !current.isAscending : false }
}
