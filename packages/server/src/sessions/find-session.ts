import type { ClickHouseClient } from '@clickhouse/client'
import { parseSessionIdPrefix, shortSessionId } from '@playhead/model'
import { KnownError } from '../errors/known-error.ts'
import type { JoinedTraces } from './joined-traces.ts'

const FULL_LENGTH = 32
const SHOWN_CANDIDATES = 5

/** Where sessions are looked up. */
export type SessionIndex = { client: ClickHouseClient; joined: JoinedTraces }

/** Whether an id names a session without a look into the store. */
export function isFullId(typed: string): boolean {
  return parseSessionIdPrefix(typed)?.length === FULL_LENGTH
}

/** Finds the one session of the project that has a trace whose id starts with this prefix, with or without `s_`. */
export async function findSessionId(
  { client, joined }: SessionIndex,
  project: string,
  typed: string,
): Promise<string> {
  const prefix = parseSessionIdPrefix(typed)
  if (prefix === undefined) {
    throw new KnownError(
      'BAD_REQUEST',
      `"${typed.slice(0, 60)}" is not a session id. Use 4 to 32 hex digits, with or without s_.`,
    )
  }
  if (prefix.length === FULL_LENGTH) return (await joined.sessionsOf(project, [prefix]))[0]!
  const result = await client.query({
    query: `SELECT DISTINCT session_id FROM (
        SELECT session_id FROM steps WHERE project = {project:String} AND startsWith(session_id, {prefix:String})
        UNION ALL
        SELECT session_id FROM logs WHERE project = {project:String} AND startsWith(session_id, {prefix:String})
      ) LIMIT {limit:UInt8}`,
    query_params: { project, prefix, limit: SHOWN_CANDIDATES },
    format: 'JSONEachRow',
  })
  const traceIds = (await result.json<{ session_id: string }>()).map((row) => row.session_id)
  const ids = [...new Set(await joined.sessionsOf(project, traceIds))]
  if (ids.length === 0) throw sessionNotFound(typed)
  if (ids.length > 1) {
    throw new KnownError(
      'AMBIGUOUS_ID',
      `Several sessions start with ${shortSessionId(prefix)}: ${ids.join(', ')}. Add more digits.`,
    )
  }
  return ids[0]!
}

export function sessionNotFound(typed: string): KnownError {
  return new KnownError(
    'SESSION_NOT_FOUND',
    `There is no session ${typed.slice(0, 60)} in this project. It may be in another project, deleted or expired, or not sent yet.`,
  )
}
