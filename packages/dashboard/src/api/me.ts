import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { fetchJson } from './fetch-json.ts'

export type Me = { kind: 'anyone' | 'person' | 'key' | 'nobody'; isAuthOn: boolean; project?: string }

const AUTH_KEY = 'playhead.auth'

/** Whether this server asked for a login when it was last here. */
export function wasAuthOn(): boolean {
  return localStorage.getItem(AUTH_KEY) === 'true'
}

/** Who the server takes us for. */
export function useMe() {
  return useQuery({
    queryKey: ['me'],
    queryFn: async () => {
      const me = await fetchJson<Me>('/api/me')
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
    mutationFn: (password: string) => fetchJson('/api/login', { json: { password } }),
    onSuccess: () => client.resetQueries(),
  })
}

export function useLogout() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => fetchJson('/api/logout', { method: 'POST' }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['me'] }),
  })
}
