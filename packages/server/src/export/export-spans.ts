import { Readable } from 'node:stream'
import { spansToOtlpJson } from '@playhead/model'
import { listQuerySchema, listSessions } from '../query/list-sessions.ts'
import type { SessionFilter } from '../query/session-filter.ts'
import type { SessionReader } from '../sessions/session-reader.ts'
import type { Store } from '../store/connect.ts'

const PAGE = 100

/**
 * The spans of each session that matches a filter as a line of OTLP/JSON, newest first: `playhead import`, the Collector's
 * file receiver and `POST /v1/traces` read them again. One session is in memory at a time.
 */
export function exportSpans(
  { store, reader }: { store: Store; reader: SessionReader },
  project: string,
  filter: Partial<SessionFilter>,
): Readable {
  const base = { ...listQuerySchema.parse({ limit: PAGE }), ...filter }
  async function* lines() {
    let cursor: string | undefined
    do {
      const page = await listSessions(store, project, { ...base, ...(cursor !== undefined && { cursor }) })
      for (const { id } of page.sessions)
        yield `${JSON.stringify(spansToOtlpJson(await reader.readSpans(project, id)))}\n`
      cursor = page.nextCursor
    } while (cursor !== undefined)
  }
  return Readable.from(lines())
}
