import { useQuery } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useMemo } from 'react'
import { alignSessions, type Session } from '@playhead/model'
import { ApiError } from '../api/call-api.ts'
import { serverSessionSource } from '../api/server-session-source.ts'
import { sessionKey } from '../api/use-session.ts'
import { withoutPending, type LiveAlignment } from './pending-rows.ts'

/** Longer sessions are compared by their previews; their payloads would use too much memory. */
const PAYLOADS_UP_TO = 3000
/** A running session is read and aligned again at most this often. */
const FOLLOWED_EVERY_MS = 500
/** Late steps may still arrive this long after the end. */
const LATE_STEPS_MS = 30_000

export type Comparison = { a: Session; b: Session; alignment: LiveAlignment }

export type ComparisonState = {
  comparison: Comparison | undefined
  /** True while B has not sent its first step. */
  isWaiting: boolean
  error: Error | null
  retry: () => void
}

/** Loads and aligns two sessions, and follows those that run. `isExpected`: B was just started and may not be there yet. */
export function useComparison(
  aId: string | undefined,
  bId: string | undefined,
  isExpected: boolean,
): ComparisonState {
  const a = useComparedSession(aId, false)
  const b = useComparedSession(bId, isExpected)
  const [left, right] = [a.data, b.data]
  const comparison = useMemo(
    () => (left === undefined || right === undefined ? undefined : compare(left, right)),
    [left, right],
  )
  const retry = () => {
    void a.refetch()
    void b.refetch()
  }
  const isWaiting = isExpected && isNotFound(b.error)
  return { comparison, isWaiting, error: a.error ?? (isWaiting ? null : b.error), retry }
}

function compare(a: Session, b: Session): Comparison {
  const isRunning = { a: a.session.endState === 'running', b: b.session.endState === 'running' }
  return { a, b, alignment: withoutPending(alignSessions(a, b), isRunning) }
}

function isNotFound(error: Error | null): boolean {
  return error instanceof ApiError && error.status === 404
}

function useComparedSession(sessionId: string | undefined, isExpected: boolean) {
  const query = useQuery({
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
    refetchInterval: ({ state }) => isExpected && isNotFound(state.error) && FOLLOWED_EVERY_MS,
    structuralSharing: false,
  })
  useFollowed(sessionId, query.data, query.refetch)
  return query
}

/** Reads a session again while it runs. */
function useFollowed(
  sessionId: string | undefined,
  data: Session | undefined,
  refetch: () => Promise<unknown>,
): void {
  const read = useEffectEvent(refetch)
  const isLive = data !== undefined && mayChange(data)
  useEffect(() => {
    if (!isLive || sessionId === undefined) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const schedule = () => {
      timer ??= setTimeout(() => void read().finally(() => (timer = undefined)), FOLLOWED_EVERY_MS)
    }
    const stop = serverSessionSource.watch!(sessionId, schedule)
    // What happened between the last request and the subscription.
    schedule()
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [sessionId, isLive])
}

function mayChange({ session: { endState, endedAt } }: Session): boolean {
  return endState === 'running' || (endedAt !== null && Date.now() - Date.parse(endedAt) < LATE_STEPS_MS)
}
