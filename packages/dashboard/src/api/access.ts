import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { callApi } from './call-api.ts'
import type { ApiBodies, ApiResponses } from '@playhead/server/api-types'
import { useProjectId } from './projects.ts'

const AUTH_KEY = 'playhead.auth'

/** Whether this server required a login the last time. */
export function wasAuthOn(): boolean {
  return localStorage.getItem(AUTH_KEY) === 'true'
}

/** Who the user is to the server. */
export function useMe() {
  return useQuery({
    queryKey: ['me'],
    queryFn: async () => {
      const me = await callApi('GET /api/me', {})
      localStorage.setItem(AUTH_KEY, String(me.isAuthOn))
      return me
    },
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  })
}

export function useLogin() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (password: string) => callApi('POST /api/login', { body: { password } }),
    onSuccess: () => client.resetQueries(),
  })
}

export function useLogout() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => callApi('POST /api/logout', {}),
    onSuccess: () => client.invalidateQueries({ queryKey: ['me'] }),
  })
}

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

export type Person = ApiResponses['GET /api/people']['people'][number]
export type Role = Person['roles'][string]

export function usePeople() {
  return useQuery({
    queryKey: ['people'],
    queryFn: () => callApi('GET /api/people', {}),
    select: ({ people }) => people,
  })
}

export function useUpdatePerson() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, ...body }: ApiBodies['PATCH /api/people/{id}'] & { id: string }) =>
      callApi('PATCH /api/people/{id}', { path: { id }, body }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['people'] }),
  })
}
