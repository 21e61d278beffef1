import { pickTexts } from '../ui/browser/search-params.ts'

/** The parameters in the URL: the branch, the search text, the open test and its run. */
export type TestsSearch = { branch?: string; search?: string; sort?: string; test?: string; run?: string }

export function testsSearch(search: Record<string, unknown>): TestsSearch {
  return pickTexts(search, ['branch', 'search', 'sort', 'test', 'run'])
}
