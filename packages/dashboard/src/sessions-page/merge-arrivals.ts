import type { SessionSummary } from '@playhead/model'
import { mapSessions, type SessionPages } from '../api/sessions.ts'

/** The pages with new sessions in their place, newest first; those that are there already are brought up to date. */
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

export function newestFirst(left: SessionSummary, right: SessionSummary): number {
  if (left.startedAt !== right.startedAt) return left.startedAt < right.startedAt ? 1 : -1
  return left.id < right.id ? 1 : -1
}

export function idsOf(data: SessionPages | undefined): Set<string> {
  return new Set(data?.pages.flatMap(({ sessions }) => sessions.map(({ id }) => id)))
}
