import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Store } from '../store/connect.ts'
import { renderSchema } from '../store/migrate.ts'

/** What identifies a row of each table that a backup brings. `sessions` is missing: it is computed from the steps. */
export const restoredTables = {
  projects: ['id', 'version'],
  keys: ['id', 'version'],
  issues: ['project', 'id', 'version'],
  monitors: ['project', 'id', 'version'],
  destinations: ['project', 'id', 'version'],
  duplicate_calls: ['project', 'session_id', 'step_id', 'version'],
  session_tags: ['project', 'session_id', 'tag', 'version'],
  steps: ['project', 'session_id', 'step_id', 'started_at', 'arrival'],
  logs: ['project', 'session_id', 'log_id'],
} as const satisfies Record<string, readonly string[]>

export type RestoredTable = keyof typeof restoredTables
export const tableNames = Object.keys(restoredTables) as RestoredTable[]

/**
 * Copies of our tables beside them. `incoming`: a backup that is being checked. `restored`: what the last restore added.
 * `replaced`: what was there before. On a cluster every node has them whole, so that a deletion can read them.
 */
export type Stage = 'incoming' | 'restored' | 'replaced'

export async function createStage(store: Store, stage: Stage): Promise<void> {
  await dropStage(store, stage)
  for (const table of tableNames) {
    const template = `CREATE TABLE ${stage}_${table} [[on_cluster]] ENGINE = [[everywhere(MergeTree)]]
      ORDER BY (${restoredTables[table].join(', ')}) EMPTY AS SELECT * FROM ${table};`
    await run(store, renderSchema(template, store.cluster)[0]!)
  }
}

export async function dropStage(store: Store, stage: Stage): Promise<void> {
  for (const table of tableNames)
    await run(
      store,
      renderSchema(`DROP TABLE IF EXISTS ${stage}_${table} [[on_cluster]] SYNC;`, store.cluster)[0]!,
    )
}

/** The checked backup becomes what the restore adds. */
export async function keepIncoming(store: Store): Promise<void> {
  await dropStage(store, 'restored')
  for (const table of tableNames) {
    const template = `RENAME TABLE incoming_${table} TO restored_${table} [[on_cluster]];`
    await run(store, renderSchema(template, store.cluster)[0]!)
  }
}

/** Loads one part of a backup: gzipped blocks in Native format. */
export async function loadPart(
  { client }: Store,
  table: RestoredTable,
  entry: AsyncIterable<unknown>,
): Promise<void> {
  const values = createGunzip()
  // The client reports a damaged stream while it reads. An error after the client gave up must not end the process.
  values.on('error', () => {})
  pipeline(Readable.from(entry), values, () => {})
  const { stream } = await client.exec({ query: `INSERT INTO incoming_${table} FORMAT Native`, values })
  for await (const _ of stream) continue
}

/** Saves the rows that the restore may replace: everything in the sessions, projects and keys that it touches. */
export async function saveReplaced(store: Store): Promise<void> {
  await createStage(store, 'replaced')
  for (const table of tableNames) {
    const scope = isBySession(table)
      ? ['project', 'session_id']
      : isInProject(table)
        ? ['project', 'id']
        : ['id']
    await run(
      store,
      `INSERT INTO replaced_${table} SELECT * FROM ${table}
        WHERE (${scope.join(', ')}) IN (SELECT ${scope.join(', ')} FROM incoming_${table})`,
    )
  }
}

/** Inserts what was restored, or what was there before. Doing it twice changes nothing. */
export async function insertStage(
  store: Store,
  stage: Stage,
  tables: readonly RestoredTable[],
): Promise<void> {
  for (const table of tables) {
    const columns = await columnsOf(store, `${stage}_${table}`)
    // A restore by an earlier version, which did not know the table yet.
    if (columns.length === 0) continue
    // A segment id is only unique on the server that gave it out.
    const values = columns.map((column) =>
      column === 'segment' && stage === 'restored' ? '0 AS segment' : column,
    )
    await run(
      store,
      `INSERT INTO ${table} (${columns.join(', ')}) SELECT ${values.join(', ')} FROM ${stage}_${table} ${stage === 'restored' && table === 'destinations' ? NOT_ROBBED : ''}`,
      {},
      { max_partitions_per_insert_block: 0 },
    )
  }
}

/** A destination that is there keeps its secrets: a backup usually has none. */
const NOT_ROBBED = `WHERE secrets != '{}' OR (project, id) NOT IN (SELECT project, id FROM destinations FINAL)`

/** Deletes what the restore added, and later versions of it. What arrived after it stays. */
export async function deleteRestored(store: Store, restoredAtMs: number): Promise<void> {
  for (const table of tableNames) {
    if ((await columnsOf(store, `restored_${table}`)).length === 0) continue
    const key = restoredTables[table].join(', ')
    const earlier =
      table === 'steps' || table === 'logs'
        ? 'AND received_at <= fromUnixTimestamp64Milli({restoredAtMs:Int64})'
        : ''
    await run(
      store,
      `DELETE FROM ${onEveryShard(store, table)} WHERE (${key}) IN (SELECT ${key} FROM restored_${table}) ${earlier}`,
      { restoredAtMs },
      { lightweight_deletes_sync: '2' },
    )
  }
  try {
    for (const table of ['words', 'sessions'])
      await run(
        store,
        `DELETE FROM ${onEveryShard(store, table)} WHERE (project, session_id) IN (${RESTORED_SESSIONS})`,
        {},
        { lightweight_deletes_sync: '2' },
      )
  } finally {
    store.sessions.changed()
    store.onDeleted()
  }
}

/** The sessions of which the restore brought steps or log records. */
const RESTORED_SESSIONS = `SELECT project, session_id FROM restored_steps
  UNION DISTINCT SELECT project, session_id FROM restored_logs`

/** Those, and the sessions that they are joined with. */
export const TOUCHED_SESSIONS = `${RESTORED_SESSIONS}
  UNION DISTINCT SELECT project, trace_id FROM joined_traces WHERE (project, session_id) IN (${RESTORED_SESSIONS})
  UNION DISTINCT SELECT project, session_id FROM joined_traces WHERE (project, trace_id) IN (${RESTORED_SESSIONS})`

function isBySession(table: RestoredTable): boolean {
  return table !== 'projects' && table !== 'keys' && !isInProject(table)
}

/** Whether its rows have ids of their own within a project. */
function isInProject(table: string): boolean {
  return table === 'issues' || table === 'monitors' || table === 'destinations'
}

function onEveryShard({ cluster }: Store, table: string): string {
  if (cluster === undefined) return table
  const isEverywhere = ['projects', 'keys', 'session_tags'].includes(table) || isInProject(table)
  return `${table}${isEverywhere ? '' : '_local'} ON CLUSTER '${cluster}'`
}

async function columnsOf({ client }: Store, table: string): Promise<string[]> {
  const result = await client.query({
    query:
      'SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {table:String} ORDER BY position',
    query_params: { table },
    format: 'JSONEachRow',
  })
  return (await result.json<{ name: string }>()).map(({ name }) => name)
}

async function run(
  { client }: Store,
  query: string,
  params: Record<string, unknown> = {},
  settings: Record<string, string | number> = {},
): Promise<void> {
  await client.command({ query, query_params: params, clickhouse_settings: settings })
}
