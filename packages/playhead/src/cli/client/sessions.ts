import { parseSessionIdPrefix, type SessionSummary } from '@playhead/model'
import type { Api, Query } from './api.ts'
import { CliError, UsageError } from '../terminal/cli-error.ts'

export type SessionPage = { sessions: SessionSummary[]; nextCursor?: string }

/** The id of the session that was typed: an id or its beginning, `last` or `last-failed`. */
export async function findSessionId(api: Api, typed: string): Promise<string> {
  if (typed === 'last') return newestSession(api, undefined)
  if (typed === 'last-failed') return newestSession(api, 'fail')
  const id = parseSessionIdPrefix(typed)
  if (id === undefined)
    throw new UsageError(
      `"${typed}" is not a session. Give an id or its first digits (playhead ls shows them), last or last-failed.`,
    )
  return id
}

async function newestSession(api: Api, status: 'fail' | undefined): Promise<string> {
  const { sessions } = await api.json<SessionPage>('/api/sessions', { query: { limit: '1', status } })
  const [newest] = sessions
  if (newest === undefined)
    throw new CliError(status === 'fail' ? 'No session failed.' : 'There are no sessions yet.')
  return newest.id
}

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
