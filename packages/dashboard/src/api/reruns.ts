import { useQuery } from '@tanstack/react-query'
import type { ApiResponses } from '@playhead/server/api-types'
import { useSessionSource } from './session-source.ts'

export type Reruns = ApiResponses['GET /api/sessions/{id}/reruns']

export function rerunsKey(sessionId: string) {
  return ['reruns', sessionId] as const
}

/** The sessions that ran this one again, and what its forks show. */
export function useReruns(sessionId: string) {
  const { readReruns } = useSessionSource()
  return useQuery({
    queryKey: rerunsKey(sessionId),
    queryFn: ({ signal }) => readReruns!(sessionId, signal),
    enabled: readReruns !== undefined,
  })
}
