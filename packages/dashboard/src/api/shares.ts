import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { ApiBodies, ApiResponses } from '@playhead/server/api-types'
import { callApi } from './call-api.ts'

export type Share = ApiResponses['GET /api/shares']['shares'][number]

/** The links to a session, newest first. */
export function useShares(sessionId: string) {
  return useQuery({
    queryKey: ['shares', sessionId],
    queryFn: ({ signal }) => callApi('GET /api/shares', { query: { session: sessionId }, signal }),
    select: ({ shares }) => shares,
    // Each request is an entry in the audit log.
    refetchOnWindowFocus: false,
    retry: false,
  })
}

export function useCreateShare(sessionId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: ApiBodies['POST /api/sessions/{id}/shares']) =>
      callApi('POST /api/sessions/{id}/shares', { path: { id: sessionId }, body }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['shares', sessionId] }),
  })
}

export function useRevokeShare(sessionId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => callApi('DELETE /api/shares/{id}', { path: { id } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['shares', sessionId] }),
  })
}
