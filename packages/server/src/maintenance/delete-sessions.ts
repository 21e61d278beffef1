import type { Store } from '../store/connect.ts'

/** Which sessions to delete: those whose ids a query over `sessions` finds. */
export type Doomed = { idsSql: string; params: Record<string, unknown> }

/** Deletes sessions with everything of them. The rows go at once from what queries see, from the disk at the next merge. */
export async function deleteSessions(store: Store, project: string, doomed: Doomed): Promise<void> {
  const table = (name: string) =>
    store.cluster === undefined ? name : `${name}_local ON CLUSTER '${store.cluster}'`
  // `sessions` last: it says which ids the others are to lose.
  for (const name of ['steps', 'logs', 'duplicate_calls', 'sessions']) {
    await store.client.command({
      query: `DELETE FROM ${table(name)} WHERE project = {project:String} AND session_id IN (${doomed.idsSql})`,
      query_params: { project, ...doomed.params },
      clickhouse_settings: { lightweight_deletes_sync: '2' },
    })
  }
}
