import { parseSessionIdPrefix, type SessionSummary } from '@playhead/model'
import type { Api } from './api.ts'
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
