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
  const [isJoined, isTagged] = await Promise.all([
    hasRows(store, 'joined_traces', project),
    hasRows(store, 'session_tags', project),
  ])
  const joinedSql = `SELECT trace_id FROM joined_traces FINAL WHERE project = {project:String} AND session_id IN (${idsSql})`
  const ofSessions = `session_id IN (${idsSql})`
  const ofTraces = isJoined ? `(${ofSessions} OR session_id IN (${joinedSql}))` : ofSessions
  // The subqueries read `joined_traces` and may read `sessions`, so those come last.
  try {
    for (const [table, condition] of [
      [sharded('steps'), ofTraces],
      // After the steps: words that are built meanwhile are compared with those.
      [sharded('words'), ofTraces],
      [sharded('logs'), ofTraces],
      [sharded('duplicate_calls'), ofTraces],
      [sharded('session_findings'), ofTraces],
      [sharded('rule_results'), ofTraces],
      ...(isTagged ? [['session_tags', ofTraces] as const] : []),
      ...(isJoined ? [['joined_traces', ofSessions] as const] : []),
      [sharded('sessions'), ofSessions],
    ] as const) {
      await store.client.command({
        query: `DELETE FROM ${table} ${onCluster} WHERE project = {project:String} AND ${condition}`,
        query_params: { project, ...params },
        clickhouse_settings: { lightweight_deletes_sync: '2' },
      })
    }
  } finally {
    store.sessions.changed()
    store.onDeleted()
  }
}

async function hasRows(
  { client }: Store,
  table: 'joined_traces' | 'session_tags',
  project: string,
): Promise<boolean> {
  const result = await client.query({
    query: `SELECT 1 FROM ${table} WHERE project = {project:String} LIMIT 1`,
    query_params: { project },
    format: 'JSONEachRow',
  })
  return (await result.json()).length > 0
}
