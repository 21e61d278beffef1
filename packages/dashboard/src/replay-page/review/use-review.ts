import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { VERDICT } from '@playhead/model'
import { useSessionSource, type SessionSource } from '../../api/session-source.ts'
import { useProjectId } from '../../api/projects.ts'
import { sessionKey } from '../../api/use-session.ts'
import { useReplaySearch } from '../playback/replay-location.ts'
import type { ReviewList } from './use-verdict.ts'

/** As many as the server lists at once. */
const MOST_SESSIONS = 1_000

export type Review = ReviewList & {
  /** The query of the list, for the address of the next session. */
  query: string
  /** The place of the session in the list; -1 if it is not in it. */
  position: number
}

/**
 * The list that somebody goes through one by one; undefined if the page was opened on its own. It is read once, so that
 * sessions that no longer match after their verdict stay where they are.
 */
export function useReview(sessionId: string): Review | undefined {
  const query = useReplaySearch((search) => search.review)
  const source = useSessionSource()
  const project = useProjectId()
  const { data } = useQuery({
    queryKey: ['review', project, query],
    queryFn: ({ signal }) => readList(source, query!, signal),
    enabled: query !== undefined && source.listSessions !== undefined,
    staleTime: Infinity,
    gcTime: Infinity,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  const position = data?.ids.indexOf(sessionId) ?? -1
  const next = position < 0 ? undefined : data?.ids[position + 1]
  const client = useQueryClient()
  useEffect(() => {
    if (next === undefined) return
    void client.prefetchQuery({
      queryKey: sessionKey(source.name, next),
      queryFn: ({ signal }) => source.openSession(next, signal),
      staleTime: Infinity,
    })
  }, [client, source, next])
  if (query === undefined || data === undefined) return undefined
  return { ...data, query, position }
}

async function readList(source: SessionSource, query: string, signal: AbortSignal): Promise<ReviewList> {
  const parameters: Record<string, string[]> = {}
  for (const [name, value] of new URLSearchParams(query)) (parameters[name] ??= []).push(value)
  const sessions = await source.listSessions!({ ...parameters, limit: MOST_SESSIONS }, signal)
  const reviewed = sessions.filter(({ scores = [] }) => scores.some(({ name }) => name === VERDICT))
  return { ids: sessions.map(({ id }) => id), reviewed: new Set(reviewed.map(({ id }) => id)) }
}
