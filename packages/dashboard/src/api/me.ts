import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { callApi } from './call-api.ts'

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
