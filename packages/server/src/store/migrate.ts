import { readdirSync, readFileSync } from 'node:fs'
import { KnownError } from '../errors/known-error.ts'
import type { Store } from './connect.ts'
import { SEARCH_TEXT } from './steps-table.ts'

const folder = new URL('./schema/', import.meta.url)

type Migration = { version: number; name: string; template: string }

/** The numbered `.sql` files, in order. */
export function migrations(): Migration[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({
      version: Number(file.slice(0, 4)),
      name: file,
      template: readFileSync(new URL(file, folder), 'utf8'),
    }))
}

/** The newest schema that this version knows. */
export function newestSchema(): number {
  return migrations().at(-1)!.version
}

/** Applies the migrations that the store does not have yet, up to a version, and calls `beforeChange` before the first. */
export async function migrate(
  store: Store,
  beforeChange: () => Promise<void>,
  upTo = Number.POSITIVE_INFINITY,
): Promise<void> {
  for (const statement of renderSchema(migrationsTable, store.cluster))
    await store.client.command({ query: statement })
  const known = migrations()
  const applied = await appliedVersions(store)
  const newest = Math.max(0, ...applied)
  if (newest > newestSchema()) {
    throw new KnownError(
      'STORE_UNAVAILABLE',
      `The store was written by a newer version of Playhead (schema ${newest}; this version knows up to ${newestSchema()}). Install that version or a newer one, or set PLAYHEAD_DATA to another folder.`,
    )
  }
  const isWaiting = applied.size > 0 && !(await areWordsBuilt(store, applied))
  const missing = known.filter(
    ({ version }) => !applied.has(version) && version <= upTo && !(isWaiting && version === NO_TEXT_INDEX),
  )
  if (missing.length === 0) return
  await beforeChange()
  for (const migration of missing) {
    await apply(store, migration)
    // In a new store, they are noted together. If it is killed before that, they are all applied again.
    if (applied.size > 0) await noteApplied(store, [migration])
  }
  if (applied.size === 0) await noteApplied(store, missing)
}

/** Adds `words`. */
const WORDS = 22
/** Until the words of a store are built, its searches use the index that this migration removes. */
const NO_TEXT_INDEX = 23

async function areWordsBuilt({ client }: Store, applied: ReadonlySet<number>): Promise<boolean> {
  if (applied.has(NO_TEXT_INDEX)) return true
  if (!applied.has(WORDS)) return false
  const result = await client.query({
    query:
      'SELECT toUnixTimestamp64Milli(before) <= 0 AS built FROM word_backlog ORDER BY version DESC LIMIT 1',
    format: 'JSONEachRow',
  })
  const [row] = await result.json<{ built: number }>()
  return row?.built === 1
}

const migrationsTable = `CREATE TABLE IF NOT EXISTS migrations [[on_cluster]]
(version UInt32, name String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3))
ENGINE = [[everywhere(MergeTree)]] ORDER BY version;`

async function appliedVersions(store: Store): Promise<Set<number>> {
  const result = await store.client.query({ query: 'SELECT version FROM migrations', format: 'JSONEachRow' })
  return new Set((await result.json<{ version: number }>()).map((row) => row.version))
}

async function apply(store: Store, migration: Migration): Promise<void> {
  for (const statement of renderSchema(migration.template, store.cluster)) {
    await store.client.command({ query: statement })
  }
}

async function noteApplied(store: Store, applied: readonly Migration[]): Promise<void> {
  await store.client.insert({
    table: 'migrations',
    values: applied.map(({ version, name }) => ({ version, name })),
    format: 'JSONEachRow',
  })
}

/** Renders a schema template for a single node or a cluster. The head of 0001-tables.sql explains the placeholders. */
export function renderSchema(template: string, cluster: string | undefined): string[] {
  const text = (cluster === undefined ? withoutRepeats(template) : template)
    .replaceAll(/^\s*--.*$/gm, '')
    .replaceAll('[[local]]', cluster === undefined ? '' : '_local')
    .replaceAll('[[on_cluster]]', cluster === undefined ? '' : onCluster(cluster))
    .replaceAll('[[search_text]]', SEARCH_TEXT)
    .replaceAll(/\[\[sharded\((.*)\)\]\]/g, (_, engine: string) => replicated(engine, '{shard}', cluster))
    .replaceAll(/\[\[everywhere\((.*)\)\]\]/g, (_, engine: string) => replicated(engine, 'all', cluster))
    .replaceAll(/\[\[distribute\((\w+), (.*)\)\]\]/g, (_, table: string, key: string) =>
      distributed(table, key, cluster),
    )
  return text
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}

/** On a single node, a table is its own local table, and the second ALTER would repeat the first. */
function withoutRepeats(template: string): string {
  const local = [...template.matchAll(/^ALTER TABLE (\w+)\[\[local\]\]/gm)].map(([, table]) => table)
  return local.reduce<string>(
    (text, table) => text.replaceAll(new RegExp(`^ALTER TABLE ${table} [^;]*;`, 'gm'), ''),
    template,
  )
}

function onCluster(cluster: string): string {
  return `ON CLUSTER '${cluster}'`
}

function replicated(engine: string, shard: string, cluster: string | undefined): string {
  if (cluster === undefined) return engine
  const [, name, columns] = /^(\w+)(?:\((.*)\))?$/.exec(engine)!
  const path = `'/clickhouse/tables/${shard}/{database}/{table}', '{replica}'`
  return `Replicated${name}(${columns === undefined ? path : `${path}, ${columns}`})`
}

function distributed(table: string, key: string, cluster: string | undefined): string {
  if (cluster === undefined) return ''
  return (
    `CREATE TABLE IF NOT EXISTS ${table} ${onCluster(cluster)} AS ${table}_local ` +
    `ENGINE = Distributed('${cluster}', currentDatabase(), '${table}_local', ${key})`
  )
}
