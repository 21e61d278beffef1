import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import type { ApiResponses } from '@playhead/server/api-types'
import { callApi } from './call-api.ts'

export type AuditEntry = ApiResponses['GET /api/audit']['entries'][number]
export type Login = ApiResponses['GET /api/logins']['logins'][number]

/** An empty project means the whole server. */
export type AuditFilter = { project: string; action: string; text: string }

export function useAudit({ project, action, text }: AuditFilter) {
  return useInfiniteQuery({
    queryKey: ['audit', project, action, text],
    queryFn: ({ pageParam, signal }) =>
      callApi('GET /api/audit', {
        query: { project, action: action || undefined, text: text || undefined, cursor: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
  })
}

export function useLogins() {
  return useQuery({
    queryKey: ['logins'],
    queryFn: () => callApi('GET /api/logins', {}),
    select: ({ logins }) => logins,
  })
}

export function useEndLogin() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => callApi('DELETE /api/logins/{id}', { path: { id } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['logins'] }),
  })
}

export function useEndOtherLogins() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => callApi('POST /api/logins/end-others', {}),
    onSuccess: () => client.invalidateQueries({ queryKey: ['logins'] }),
  })
}
