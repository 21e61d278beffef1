import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { apiPath } from './api-path.ts'
import { fetchJson } from './fetch-json.ts'
import { useProjectId } from './projects.ts'

export const keyScopes = ['ingest', 'read', 'admin'] as const
export type KeyScope = (typeof keyScopes)[number]

export type Key = {
  id: string
  project: string
  name: string
  hint: string
  scopes: KeyScope[]
  createdAt: string
  revokedAt: string | null
}

export function useKeys() {
  const project = useProjectId()
  return useQuery({
    queryKey: ['keys', project],
    queryFn: () => fetchJson<{ keys: Key[] }>(apiPath('/api/keys', { project })),
    select: ({ keys }) => keys,
  })
}

export function useCreateKey() {
  const project = useProjectId()
  const client = useQueryClient()
  return useMutation({
    mutationFn: (given: { name: string; scopes: KeyScope[] }) =>
      fetchJson<{ key: Key; secret: string }>(apiPath('/api/keys', { project }), { json: given }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['keys', project] }),
  })
}

export function useRevokeKey() {
  const project = useProjectId()
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) =>
      fetchJson<Key>(apiPath(`/api/keys/${encodeURIComponent(id)}`, { project }), { method: 'DELETE' }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['keys', project] }),
  })
}
