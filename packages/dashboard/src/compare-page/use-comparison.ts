import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { alignSessions, type Alignment, type Session } from '@playhead/model'
import { serverSessionSource } from '../api/server-session-source.ts'
import { sessionKey } from '../api/use-session.ts'

/** Longer sessions are compared by their previews; their payloads would use too much memory. */
const PAYLOADS_UP_TO = 3000

export type Comparison = { a: Session; b: Session; alignment: Alignment }

export type ComparisonState = {
  comparison: Comparison | undefined
  error: Error | null
  retry: () => void
}

/** Loads and aligns two sessions. */
export function useComparison(aId: string | undefined, bId: string | undefined): ComparisonState {
  const [a, b] = [useComparedSession(aId), useComparedSession(bId)]
  const [left, right] = [a.data, b.data]
  const comparison = useMemo(
    () =>
      left === undefined || right === undefined
        ? undefined
        : { a: left, b: right, alignment: alignSessions(left, right) },
    [left, right],
  )
  const retry = () => {
    void a.refetch()
    void b.refetch()
  }
  return { comparison, error: a.error ?? b.error, retry }
}

function useComparedSession(sessionId: string | undefined) {
  return useQuery({
    queryKey: [...sessionKey(serverSessionSource.name, sessionId ?? ''), 'compared'],
    queryFn: async ({ signal }) => {
      const session = await serverSessionSource.readSession(sessionId ?? '', signal)
      if (session.steps.length > PAYLOADS_UP_TO || session.steps.every((step) => step.hasPayload))
        return session
      return serverSessionSource.readPayloads(sessionId ?? '', signal)
    },
    enabled: sessionId !== undefined,
    staleTime: 30_000,
    refetchOnWindowFocus: false,
    structuralSharing: false,
  })
}
