import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { StatsFigures } from '@playhead/model'
import { callApi, type QueryParameters } from './call-api.ts'
import { useProjectId } from './projects.ts'

/** Statistics of the sessions that match a filter. The previous ones stay while new ones load, so that charts don't flicker. */
export function useStats(
  parameters: QueryParameters,
  options: { enabled?: boolean; refreshMs?: number } = {},
) {
  const project = useProjectId()
  return useQuery({
    queryKey: ['stats', project, parameters],
    queryFn: ({ signal }) => callApi('GET /api/stats', { query: { project, ...parameters }, signal }),
    placeholderData: keepPreviousData,
    enabled: options.enabled ?? true,
    ...(options.refreshMs !== undefined && { refetchInterval: options.refreshMs }),
  })
}

/** The browser's time zone, which decides when a day begins. */
export function browserZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** The statistics of a period without sessions. */
export const noFigures: StatsFigures = {
  total: 0,
  success: 0,
  fail: 0,
  indeterminate: 0,
  running: 0,
  lost: 0,
  failureRate: null,
  cost: null,
  usage: {},
  durationMs: { p50: null, p95: null, p99: null },
}
