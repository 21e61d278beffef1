/** What of the replay page is in the URL: which step, at which moment, which tab, what is searched for; and the project. */
export type ReplaySearch = { step?: string; t?: number; tab?: string; q?: string; project?: string }

export function replaySearch(search: Record<string, unknown>): ReplaySearch {
  const time = Number(search.t)
  return {
    ...textOf(search, 'step'),
    ...(search.t !== undefined && Number.isFinite(time) && time >= 0 && { t: time }),
    ...textOf(search, 'tab'),
    ...textOf(search, 'q'),
    ...textOf(search, 'project'),
  }
}

/** The router reads a step id of digits as a number. */
function textOf(search: Record<string, unknown>, name: keyof ReplaySearch): { [name: string]: string } {
  const value = search[name]
  if (typeof value === 'number') return { [name]: String(value) }
  return typeof value === 'string' && value !== '' ? { [name]: value } : {}
}
