import type { Registry } from '../access/registry.ts'
import type { Store } from '../store/connect.ts'
import { deleteSessions } from './delete-sessions.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** Deletes, now and every hour, the sessions that are older than their project keeps them. Returns how to stop. */
export function startRetention(store: Store, registry: Registry, report: (line: string) => void): () => void {
  const run = () =>
    void applyRetention(store, registry, Date.now()).catch((error: Error) =>
      report(`retention did not run: ${error.message}`),
    )
  const timer = setInterval(run, HOUR_MS)
  timer.unref()
  run()
  return () => clearInterval(timer)
}

export async function applyRetention(store: Store, registry: Registry, nowMs: number): Promise<void> {
  for (const { id, retentionDays } of registry.projects()) {
    if (retentionDays === null) continue
    const params = { project: id, before: nowMs - retentionDays * DAY_MS }
    const idsSql = `SELECT session_id FROM sessions FINAL WHERE project = {project:String} AND started_at < fromUnixTimestamp64Milli({before:Int64})`
    const result = await store.client.query({
      query: `SELECT count() AS old FROM (${idsSql})`,
      query_params: params,
      format: 'JSONEachRow',
    })
    const [row] = await result.json<{ old: number }>()
    if (row !== undefined && row.old > 0) await deleteSessions(store, id, { idsSql, params })
  }
}
