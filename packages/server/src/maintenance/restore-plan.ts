import type { RestorePlan } from '../api/schemas/restore.ts'
import type { Store } from '../store/connect.ts'
import { IS_FINISHED } from '../store/steps-table.ts'

/** Says what restoring the incoming backup would add and replace. Changes nothing. */
export async function planRestore(
  store: Store,
  { backupCreatedAt, objects, withKeys }: { backupCreatedAt: string; objects: number; withKeys: boolean },
): Promise<RestorePlan> {
  const list = await planKeys(store)
  const [sessions = { total: 0, added: 0 }] = await read<RestorePlan['sessions']>(store, SESSIONS)
  const [steps = { total: 0, added: 0, replaced: 0 }] = await read<RestorePlan['steps']>(store, STEPS)
  const [logs] = await read<{ total: number }>(store, 'SELECT count() AS total FROM incoming_logs')
  return {
    backupCreatedAt,
    projects: await planProjects(store),
    sessions,
    steps,
    logs: logs?.total ?? 0,
    objects,
    monitors: await count(store, 'monitors'),
    destinations: await count(store, 'destinations'),
    keys: { total: list.length, isIncluded: withKeys, list },
  }
}

const SESSIONS = `SELECT count() AS total,
    countIf((project, session_id) NOT IN (SELECT project, session_id FROM sessions FINAL)) AS added
  FROM (SELECT project, session_id FROM incoming_steps UNION DISTINCT SELECT project, session_id FROM incoming_logs)`

/** The order of CURRENT_FIRST as one value: of two rows of a step, the lower one counts. */
const RANK = `tuple(NOT (${IS_FINISHED}), arrival, -toInt64(version))`

const STEPS = `SELECT count() AS total, countIf(present.step_id = '') AS added,
    countIf(present.step_id != '' AND incoming.rank < present.rank) AS replaced
  FROM (SELECT project, session_id, step_id, min(${RANK}) AS rank FROM incoming_steps GROUP BY 1, 2, 3) AS incoming
  LEFT JOIN (
    SELECT project, session_id, step_id, min(${RANK}) AS rank FROM steps
    WHERE (project, session_id) IN (SELECT project, session_id FROM incoming_steps) GROUP BY 1, 2, 3
  ) AS present USING (project, session_id, step_id)`

async function planProjects(store: Store): Promise<RestorePlan['projects']> {
  const rows = await read<{ id: string; version: number; present: number }>(
    store,
    `SELECT id, incoming.version AS version, present.version AS present FROM incoming_projects AS incoming
      LEFT JOIN (SELECT id, version FROM projects FINAL) AS present USING (id) ORDER BY id`,
  )
  return {
    total: rows.length,
    added: rows.filter(({ present }) => present === 0).map(({ id }) => id),
    replaced: rows.filter(({ present, version }) => present > 0 && version > present).map(({ id }) => id),
  }
}

type KeyRow = { name: string; project: string; scopes: string[]; isRevoked: 0 | 1; isPresent: 0 | 1 }

async function planKeys(store: Store): Promise<RestorePlan['keys']['list']> {
  const rows = await read<KeyRow>(
    store,
    `SELECT incoming.name AS name, incoming.project AS project, incoming.scopes AS scopes,
        incoming.revoked_at IS NOT NULL AS isRevoked, present.id != '' AS isPresent FROM incoming_keys AS incoming
      LEFT JOIN (SELECT id FROM keys FINAL) AS present ON incoming.id = present.id ORDER BY project, name`,
  )
  return rows.map(({ isRevoked, isPresent, ...key }) => ({
    ...key,
    isRevoked: isRevoked === 1,
    isPresent: isPresent === 1,
  }))
}

async function count(store: Store, table: 'monitors' | 'destinations'): Promise<number> {
  const [row] = await read<{ total: number }>(store, `SELECT count() AS total FROM incoming_${table}`)
  return row?.total ?? 0
}

async function read<Row>({ client }: Store, query: string): Promise<Row[]> {
  const result = await client.query({ query, format: 'JSONEachRow' })
  return result.json<Row>()
}
