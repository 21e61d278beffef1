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
  const table = (name: string) =>
    store.cluster === undefined ? name : `${name}_local ON CLUSTER '${store.cluster}'`
  // `sessions` comes last, because the subquery may read the ids from it.
  for (const name of ['steps', 'logs', 'duplicate_calls', 'sessions']) {
    await store.client.command({
      query: `DELETE FROM ${table(name)} WHERE project = {project:String} AND session_id IN (${idsSql})`,
      query_params: { project, ...params },
      clickhouse_settings: { lightweight_deletes_sync: '2' },
    })
  }
}
