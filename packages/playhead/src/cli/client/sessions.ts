import { parseSessionIdPrefix, type SessionSummary } from '@playhead/model'
import { CliError, UsageError } from '../terminal/cli-error.ts'
import type { Api, Query } from './api.ts'

export type SessionPage = { sessions: SessionSummary[]; nextCursor?: string }

/**
 * Resolves what the user typed to a session id: an id or a prefix of one, `last` or `last-failed`. Re-runs may be the last
 * session, unless they are left out, but not the last that failed: what people look for is the failure that they run again.
 */
export async function findSessionId(api: Api, typed: string, isRerunLeftOut = false): Promise<string> {
  if (typed === 'last') return newestSession(api, isRerunLeftOut ? { reruns: 'exclude' } : {})
  if (typed === 'last-failed') return newestSession(api, { status: 'fail', reruns: 'exclude' })
  const id = parseSessionIdPrefix(typed)
  if (id === undefined)
    throw new UsageError(
      `"${typed}" is not a session id. Use an id or its first digits (see playhead ls), "last" or "last-failed".`,
    )
  return id
}

/** The user's own sessions come first: the demo may still be recorded while somebody tries their agent. */
async function newestSession(api: Api, query: { status?: 'fail'; reruns?: 'exclude' }): Promise<string> {
  for (const own of [{ demo: 'false' }, {}]) {
    const found: SessionPage = await api.json('/api/sessions', { query: { limit: '1', ...query, ...own } })
    if (found.sessions[0] !== undefined) return found.sessions[0].id
  }
  throw new CliError(query.status === 'fail' ? 'No session has failed.' : 'There are no sessions yet.')
}

const PAGE_SIZE = 500

/** Yields pages of matching sessions, newest first, until `limit` sessions were read. */
export async function* readSessionPages(
  api: Api,
  query: Query,
  limit: number,
): AsyncGenerator<SessionPage, void> {
  let [left, cursor]: [number, string | undefined] = [limit, undefined]
  do {
    const size = Math.min(left, PAGE_SIZE)
    const page: SessionPage = await api.json('/api/sessions', {
      query: { ...query, limit: String(size), cursor },
    })
    yield page
    cursor = page.nextCursor
    left -= page.sessions.length
    if (page.sessions.length === 0) return
  } while (cursor !== undefined && left > 0)
}
