import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { ApiBodies, ApiResponses } from '@playhead/server/api-types'
import { callApi } from './call-api.ts'
import { useProjectId } from './projects.ts'

export type Key = ApiResponses['GET /api/keys']['keys'][number]
export type KeyScope = Key['scopes'][number]
export const keyScopes = ['ingest', 'read', 'admin'] as const satisfies readonly KeyScope[]

export function useKeys() {
  const project = useProjectId()
  return useQuery({
    queryKey: ['keys', project],
    queryFn: () => callApi('GET /api/keys', { query: { project } }),
    select: ({ keys }) => keys,
  })
}

export function useCreateKey() {
  const project = useProjectId()
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: ApiBodies['POST /api/keys']) =>
      callApi('POST /api/keys', { query: { project }, body }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['keys', project] }),
  })
}

export function useRevokeKey() {
  const project = useProjectId()
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => callApi('DELETE /api/keys/{id}', { path: { id }, query: { project } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['keys', project] }),
  })
}
