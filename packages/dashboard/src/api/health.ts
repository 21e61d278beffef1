import { useQuery } from '@tanstack/react-query'
import type { ApiResponses } from '@playhead/server/api-types'
import { callApi } from './call-api.ts'

export type Health = ApiResponses['GET /api/health']

/** What the server is doing, refreshed every few seconds. */
export function useHealth(refreshMs = 2_000) {
  return useQuery({
    queryKey: ['health'],
    queryFn: async () => ({ ...(await callApi('GET /api/health', {})), readAtMs: Date.now() }),
    refetchInterval: refreshMs,
  })
}
