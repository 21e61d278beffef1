import { pickTexts } from '../ui/browser/search-params.ts'

/**
 * The parameters in the URL: the sessions, the selected step of either one, and the visible rows. `live`: session B was
 * just started and may not be there yet.
 */
export type CompareSearch = { a?: string; b?: string; step?: string; show?: string; live?: string }

export function compareSearch(search: Record<string, unknown>): CompareSearch {
  return pickTexts(search, ['a', 'b', 'step', 'show', 'live'])
}

/** `differences`: only rows that differ; `effects`: only writes. */
export type ShownRows = 'all' | 'differences' | 'effects'

export function readShown(show: string | undefined): ShownRows {
  return show === 'differences' || show === 'effects' ? show : 'all'
}
