import { useQuery } from '@tanstack/react-query'
import { fetchJson } from './fetch-json.ts'

export type Health = {
  version: string
  uptimeMs: number
  spansStored: number
  spansRejected: number
  logsStored: number
  pendingRows: number
  engineRestarts: number
  liveViewers: number
  disk: { freeBytes: number | null; tables: { name: string; rows: number; bytes: number }[] }
}

/** What the server is doing, asked again every few seconds. */
export function useHealth(refreshMs = 2_000) {
  return useQuery({
    queryKey: ['health'],
    queryFn: async () => ({ ...(await fetchJson<Health>('/api/health')), readAtMs: Date.now() }),
    refetchInterval: refreshMs,
  })
}
