/** What of the replay page is in the URL: which step, at which moment, which tab, what is searched for. */
export type ReplaySearch = { step?: string; t?: number; tab?: string; q?: string }

export function replaySearch(search: Record<string, unknown>): ReplaySearch {
  const time = Number(search.t)
  return {
    ...(typeof search.step === 'string' && { step: search.step }),
    ...(search.t !== undefined && Number.isFinite(time) && time >= 0 && { t: time }),
    ...(typeof search.tab === 'string' && { tab: search.tab }),
    ...(typeof search.q === 'string' && search.q !== '' && { q: search.q }),
  }
}
