import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from './call-api.ts'

/** Caches all data from the server. Requests that the server rejected are not retried. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: handleLogout }),
  mutationCache: new MutationCache({ onError: handleLogout }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => !(error instanceof ApiError && error.status < 500) && failures < 2,
      refetchOnWindowFocus: true,
    },
  },
})

/** Call with every error: after a 401 the shell asks again who the user is. */
export function handleLogout(error: unknown): void {
  if (error instanceof ApiError && error.status === 401)
    void queryClient.invalidateQueries({ queryKey: ['me'] })
}
