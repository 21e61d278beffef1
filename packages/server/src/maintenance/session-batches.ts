import type { ClickHouseClient } from '@clickhouse/client'
import type { Registry } from '../access/registry.ts'
import type { SessionRefresher } from '../sessions/refresh-sessions.ts'
import type { Store } from '../store/connect.ts'

const BATCH_SESSIONS = 200

/** Yields the ids of a project's sessions in order, a batch at a time; `condition` is SQL over `steps`. */
export async function* sessionBatches(
  client: ClickHouseClient,
  project: string,
  condition = '1',
): AsyncGenerator<string[], void> {
  for (let last = ''; ;) {
    const result = await client.query({
      query: `SELECT DISTINCT session_id FROM steps
        WHERE project = {project:String} AND session_id > {last:String} AND ${condition}
        ORDER BY session_id LIMIT ${BATCH_SESSIONS}`,
      query_params: { project, last },
      format: 'JSONEachRow',
    })
    const ids = (await result.json<{ session_id: string }>()).map((row) => row.session_id)
    if (ids.length === 0) return
    yield ids
    last = ids.at(-1)!
  }
}

export async function countSessions(
  client: ClickHouseClient,
  project: string,
  condition = '1',
): Promise<number> {
  const result = await client.query({
    query: `SELECT uniqExact(session_id) AS total FROM steps WHERE project = {project:String} AND ${condition}`,
    query_params: { project },
    format: 'JSONEachRow',
  })
  const [row] = await result.json<{ total: number }>()
  return row?.total ?? 0
}

/** Computes every session of every project from its steps again. */
export async function recomputeSessions(stored: {
  store: Store
  registry: Registry
  refresher: SessionRefresher
}): Promise<void> {
  for (const { id } of stored.registry.projects()) {
    for await (const ids of sessionBatches(stored.store.client, id)) await stored.refresher.refresh(id, ids)
  }
}
