import type { Store } from '../store/connect.ts'

/** A subquery that selects session ids, with its parameters. */
type SessionIds = { idsSql: string; params: Record<string, unknown> }

/**
 * Deletes sessions and everything that belongs to them. Queries no longer see the rows as soon as this returns; the next
 * merge removes them from the disk.
 */
export async function deleteSessions(
  store: Store,
  project: string,
  { idsSql, params }: SessionIds,
): Promise<void> {
  const onCluster = store.cluster === undefined ? '' : `ON CLUSTER '${store.cluster}'`
  const sharded = (name: string) => (store.cluster === undefined ? name : `${name}_local`)
  const joinedSql = `SELECT trace_id FROM joined_traces FINAL WHERE project = {project:String} AND session_id IN (${idsSql})`
  const ofTraces = `(session_id IN (${idsSql}) OR session_id IN (${joinedSql}))`
  const ofSessions = `session_id IN (${idsSql})`
  // The subqueries read `joined_traces` and may read `sessions`, so those come last.
  for (const [table, condition] of [
    [sharded('steps'), ofTraces],
    [sharded('logs'), ofTraces],
    [sharded('duplicate_calls'), ofTraces],
    ['joined_traces', ofSessions],
    [sharded('sessions'), ofSessions],
  ] as const) {
    await store.client.command({
      query: `DELETE FROM ${table} ${onCluster} WHERE project = {project:String} AND ${condition}`,
      query_params: { project, ...params },
      clickhouse_settings: { lightweight_deletes_sync: '2' },
    })
  }
}
