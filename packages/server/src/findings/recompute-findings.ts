import { DIAGNOSIS_VERSION } from '@playhead/model'
import type { Store } from '../store/connect.ts'
import { STATE } from '../store/sessions-table.ts'
import type { SessionFindings } from './session-findings.ts'

const BATCH_SESSIONS = 100

/** Computes the findings of a project's sessions again: of those that are not up to date, or of all. Returns how many. */
export async function recomputeFindings(
  { store, findings }: { store: Store; findings: SessionFindings },
  project: string,
  options: { isForced: boolean; onProgress: (done: number) => Promise<void> },
): Promise<number> {
  let done = 0
  for (let last = ''; ;) {
    const ids = await readBatch(store, project, { last, isForced: options.isForced })
    if (ids.length === 0) return done
    await findings.computeAll(project, ids)
    last = ids.at(-1)!
    done += ids.length
    await options.onProgress(done)
  }
}

/** How many sessions `recomputeFindings` would compute. */
export async function countOutdated(store: Store, project: string, isForced: boolean): Promise<number> {
  const rows = await query<{ total: number }>(store, outdatedSql('count() AS total'), {
    project,
    last: '',
    isForced,
  })
  return rows[0]?.total ?? 0
}

async function readBatch(
  store: Store,
  project: string,
  { last, isForced }: { last: string; isForced: boolean },
): Promise<string[]> {
  const sql = `${outdatedSql('session_id')} ORDER BY session_id LIMIT ${BATCH_SESSIONS}`
  const rows = await query<{ session_id: string }>(store, sql, { project, last, isForced })
  return rows.map((row) => row.session_id)
}

/** Sessions that have ended, and whose findings are older than they are or computed by older rules. */
function outdatedSql(select: string): string {
  return `SELECT ${select} FROM
      (SELECT session_id, version FROM sessions FINAL
        WHERE project = {project:String} AND session_id > {last:String} AND ${STATE} != 'running') AS sessions
    GLOBAL LEFT JOIN
      (SELECT session_id, version AS found FROM session_findings FINAL
        WHERE project = {project:String} AND diagnosis_version >= ${DIAGNOSIS_VERSION}) AS findings
    USING (session_id)
    WHERE {isForced:Bool} OR found < version`
}

async function query<Row>({ client }: Store, sql: string, params: Record<string, unknown>): Promise<Row[]> {
  const result = await client.query({
    query: sql,
    query_params: { ...params, nowMs: Date.now() },
    format: 'JSONEachRow',
  })
  return result.json<Row>()
}
