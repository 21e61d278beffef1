import { pickTexts } from '../ui/browser/search-params.ts'

/** What of the tests is in the URL: branch, searched text, which test is open, and which of its runs. */
export type TestsSearch = { branch?: string; search?: string; sort?: string; test?: string; run?: string }

export function testsSearch(search: Record<string, unknown>): TestsSearch {
  return pickTexts(search, ['branch', 'search', 'sort', 'test', 'run'])
}
