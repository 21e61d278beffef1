import { QueryClient } from '@tanstack/react-query'
import { ApiError } from './fetch-json.ts'

/** Server data lives here and nowhere else. What the server refuses for a reason is not asked for again. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => !(error instanceof ApiError && error.status < 500) && failures < 2,
      refetchOnWindowFocus: true,
    },
  },
})
