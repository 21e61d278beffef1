import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import type { SessionSummary } from '@playhead/model'
import { useCallback, useEffect, useEffectEvent, useState } from 'react'
import type { QueryParameters } from '../api/call-api.ts'
import { handleLogout } from '../api/query-client.ts'
import { fetchSessions, sessionsKey, type SessionPages, mapSessions } from '../api/sessions.ts'
import { watchSessions } from '../api/watch-sessions.ts'

/** Statistics are refetched at most this often. */
const STATS_EVERY_MS = 5_000
/** No event announces that a session is lost, so running ones are checked. */
const CHECK_RUNNING_MS = 30_000
export const MOST_ARRIVALS = 50

type LiveList = { project: string; parameters: QueryParameters; isNewestFirst: boolean; isPaused: boolean }

/**
 * Keeps the list up to date. While it is paused (scrolled, or under the pointer), new sessions wait in `arrivals`, so that
 * nothing moves under the cursor; listed sessions are updated in place.
 */
export function useLiveList({ project, parameters, isNewestFirst, isPaused }: LiveList) {
  const client = useQueryClient()
  const [arrivals, setArrivals] = useState<SessionSummary[]>([])
  const key = sessionsKey(project, parameters)
  const keyText = JSON.stringify(key)
  const list = cachedList(client, key)
  const add = (fresh: readonly SessionSummary[]) =>
    fresh.length > 0 && setArrivals((before) => latest([...before, ...fresh]))
  useEffect(() => setArrivals([]), [keyText])

  /** Only the server knows whether a new session matches the filter. */
  const fetchNewest = useEffectEvent(async (isNew: (id: string) => boolean) => {
    const newest = { ...parameters, sort: 'time', order: 'desc', limit: MOST_ARRIVALS, cursor: undefined }
    const { sessions } = await fetchSessions(project, newest)
    add(list.update(sessions).filter(({ id }) => isNew(id)))
  })
  const handleChanges = useEffectEvent((changed: readonly SessionSummary[]) => {
    const { reruns, ...filter } = parameters
    const unknown = list
      .update(changed)
      .filter(({ parentId }) => reruns !== 'exclude' || parentId === undefined)
    if (unknown.length === 0) return
    const isUnfiltered = Object.keys(filter).length === 0
    if (isNewestFirst && isUnfiltered && unknown.every((session) => list.isNewest(session)))
      return void add(unknown)
    const ids = new Set(unknown.map(({ id }) => id))
    fetchNewest((id) => ids.has(id)).catch(handleLogout)
  })
  const catchUp = useEffectEvent(() => {
    // In any other order, new sessions may belong further down.
    if (list.isLoaded()) fetchNewest(() => isNewestFirst).catch(handleLogout)
  })
  const checkRunning = useEffectEvent(() => {
    if (list.hasRunning()) fetchNewest(() => false).catch(handleLogout)
  })
  useEffect(() => {
    const refreshStats = throttle(
      () => void client.invalidateQueries({ queryKey: ['stats', project] }),
      STATS_EVERY_MS,
    )
    const onChange = (changed: readonly SessionSummary[]) => {
      handleChanges(changed)
      refreshStats()
    }
    const stop = watchSessions(project, { onOpen: () => catchUp(), onChange })
    const timer = setInterval(() => checkRunning(), CHECK_RUNNING_MS)
    return () => {
      stop()
      clearInterval(timer)
    }
  }, [client, project])

  const show = useCallback(() => {
    const shown = cachedList(client, JSON.parse(keyText) as readonly unknown[])
    if (isNewestFirst && arrivals.length < MOST_ARRIVALS) shown.insert(arrivals)
    else shown.reload()
    setArrivals([])
  }, [client, arrivals, isNewestFirst, keyText])
  useEffect(() => {
    if (!isPaused && isNewestFirst && arrivals.length > 0) show()
  }, [isPaused, isNewestFirst, arrivals, show])
  return { arrivals, show }
}

/** The cached list, and the updates that it supports. */
function cachedList(client: QueryClient, key: readonly unknown[]) {
  const read = () => client.getQueryData<SessionPages>(key)
  const insert = (sessions: readonly SessionSummary[]) =>
    void client.setQueryData<SessionPages>(key, (data) => data && mergeArrivals(data, sessions))
  return {
    insert,
    isLoaded: () => read() !== undefined,
    reload: () => void client.resetQueries({ queryKey: key }),
    /** Updates the listed sessions; returns the others. */
    update(sessions: readonly SessionSummary[]): SessionSummary[] {
      const shown = idsOf(read())
      insert(sessions.filter(({ id }) => shown.has(id)))
      return sessions.filter(({ id }) => !shown.has(id))
    },
    /** Whether the session belongs at the top of the list. */
    isNewest(session: SessionSummary): boolean {
      const first = read()?.pages[0]?.sessions[0]
      return first === undefined || newestFirst(session, first) < 0
    },
    hasRunning: () =>
      read()?.pages.some(({ sessions }) => sessions.some(({ endState }) => endState === 'running')) === true,
  }
}

function latest(sessions: readonly SessionSummary[]): SessionSummary[] {
  const byId = new Map(sessions.map((session) => [session.id, session]))
  return [...byId.values()].sort(newestFirst).slice(0, MOST_ARRIVALS)
}

function throttle(work: () => void, everyMs: number): () => void {
  let lastMs = 0
  return () => {
    if (Date.now() - lastMs < everyMs) return
    lastMs = Date.now()
    work()
  }
}

/** Adds new sessions, newest first, and updates the listed ones. */
export function mergeArrivals(data: SessionPages, arrivals: readonly SessionSummary[]): SessionPages {
  const arrived = new Map(arrivals.map((session) => [session.id, session]))
  const updated = mapSessions(data, (session) => {
    const newer = arrived.get(session.id)
    arrived.delete(session.id)
    return newer ?? session
  })
  const [first, ...rest] = updated.pages
  if (first === undefined || arrived.size === 0) return updated
  const sessions = [...arrived.values(), ...first.sessions].sort(newestFirst)
  return { ...updated, pages: [{ ...first, sessions }, ...rest] }
}

function newestFirst(left: SessionSummary, right: SessionSummary): number {
  if (left.startedAt !== right.startedAt) return left.startedAt < right.startedAt ? 1 : -1
  return left.id < right.id ? 1 : -1
}

export function idsOf(data: SessionPages | undefined): Set<string> {
  return new Set(data?.pages.flatMap(({ sessions }) => sessions.map(({ id }) => id)))
}
