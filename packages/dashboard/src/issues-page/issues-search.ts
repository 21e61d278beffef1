import { pickTexts } from '../ui/browser/search-params.ts'

/** The parameters in the URL: the state, the search text and the open issue. */
export type IssuesSearch = { state?: string; search?: string; issue?: string }

export function issuesSearch(search: Record<string, unknown>): IssuesSearch {
  return pickTexts(search, ['state', 'search', 'issue'])
}
