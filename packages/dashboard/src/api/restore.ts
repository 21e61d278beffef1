import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { ApiResponses } from '@playhead/server/api-types'
import { callApi } from './call-api.ts'

export type RestorePlan = ApiResponses['POST /api/restore']['plan']

/** The restore that can be undone. */
export function useLastRestore() {
  return useQuery({ queryKey: ['last-restore'], queryFn: () => callApi('GET /api/restore', {}) })
}

/** Uploads a backup: with `dryRun` to learn what it would do, otherwise to restore it. */
export function useRestore() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ file, ...query }: { file: File; dryRun: boolean; withKeys: boolean }) =>
      callApi('POST /api/restore', { query, file }),
    onSuccess: ({ isDryRun }) => (isDryRun ? undefined : client.invalidateQueries()),
  })
}

export function useUndoRestore() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => callApi('POST /api/restore/undo', {}),
    onSuccess: () => client.invalidateQueries(),
  })
}
