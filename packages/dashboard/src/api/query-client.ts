import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from './call-api.ts'

/** Server data lives here and nowhere else. What the server refuses for a reason is not asked for again. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noticeLogout }),
  mutationCache: new MutationCache({ onError: noticeLogout }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => !(error instanceof ApiError && error.status < 500) && failures < 2,
      refetchOnWindowFocus: true,
    },
  },
})

/** A login that ended is seen by whatever is asked next; the frame of the page then asks who we are. */
export function noticeLogout(error: unknown): void {
  if (error instanceof ApiError && error.status === 401)
    void queryClient.invalidateQueries({ queryKey: ['me'] })
}
