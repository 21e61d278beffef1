import type { SessionSummary } from '@playhead/model'
import type { Api, Query } from '../client/api.ts'
import type { SessionPage } from '../client/find-session.ts'

const PAGE_SIZE = 500
/** More say nothing that these don't. */
const READ_AT_MOST = 10_000

/** The sessions that have ended, the newest first. */
export async function readChecked(api: Api, query: Query): Promise<SessionSummary[]> {
  const sessions: SessionSummary[] = []
  let cursor: string | undefined
  do {
    const page: SessionPage = await api.json('/api/sessions', {
      query: { ...query, demo: 'false', limit: String(PAGE_SIZE), cursor },
    })
    sessions.push(...page.sessions.filter(({ endState }) => endState !== 'running'))
    cursor = page.nextCursor
  } while (cursor !== undefined && sessions.length < READ_AT_MOST)
  return sessions
}
