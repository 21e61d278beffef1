/** What of the list is in the URL. `q` is the whole filter as typed: `status:fail tool:search cost:>0.01 "charged twice"`. */
export type SessionsSearch = { q?: string; from?: string; to?: string; sort?: string; trace_id?: string }

export function sessionsSearch(search: Record<string, unknown>): SessionsSearch {
  const text = (name: keyof SessionsSearch) => {
    const value = search[name]
    return typeof value === 'string' && value !== '' ? { [name]: value } : {}
  }
  return { ...text('q'), ...text('from'), ...text('to'), ...text('sort'), ...text('trace_id') }
}
