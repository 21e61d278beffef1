import { pickTexts } from '../ui/browser/search-params.ts'

/** What of a comparison is in the URL: the sessions, the step that is looked at (of either), and which rows are shown. */
export type CompareSearch = { a?: string; b?: string; step?: string; show?: string }

export function compareSearch(search: Record<string, unknown>): CompareSearch {
  return pickTexts(search, ['a', 'b', 'step', 'show'])
}

/** `differences`: rows where something differs; `effects`: what was written. */
export type ShownRows = 'all' | 'differences' | 'effects'

export function readShown(show: string | undefined): ShownRows {
  return show === 'differences' || show === 'effects' ? show : 'all'
}
