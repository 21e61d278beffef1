import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { pack, type Pack } from 'tar-stream'
import type { UploadedObjects } from '../store/uploaded-objects.ts'
import type { Store } from '../store/connect.ts'
import { newestSchema } from '../store/migrate.ts'

export const BACKUP_VERSION = 1

/** The first entry of a backup: which format and schema it has. */
export type BackupHead = { playheadBackup: number; schema: number; createdAt: string }

/** The tables in a backup. Large ones are read in batches, ordered by the column named here. */
export const backupTables = {
  projects: undefined,
  keys: undefined,
  issues: undefined,
  monitors: undefined,
  destinations: undefined,
  duplicate_calls: 'session_id',
  session_tags: 'session_id',
  steps: 'session_id',
  logs: 'session_id',
  sessions: 'session_id',
} as const satisfies Record<string, string | undefined>

export type BackupTable = keyof typeof backupTables

/** The secrets of destinations (tokens, passwords, addresses of webhooks) are left out unless somebody asks for them. */
export type BackupOptions = { withSecrets: boolean }

const BATCH_ROWS = 20_000
const compress = promisify(gzip)

/**
 * Streams everything stored so far as one tar file of gzipped Native blocks and uploaded objects, while the server keeps
 * running. Each block can be loaded by hand: `gunzip < steps/000001.native.gz | clickhouse-client -q 'INSERT INTO steps FORMAT Native'`.
 */
export function createBackup(store: Store, objects: UploadedObjects, options: BackupOptions): Readable {
  const tar = pack()
  void writeBackup(store, objects, { ...options, tar }).catch((error: Error) => tar.destroy(error))
  return Readable.from(tar)
}

async function writeBackup(
  store: Store,
  objects: UploadedObjects,
  { tar, withSecrets }: BackupOptions & { tar: Pack },
): Promise<void> {
  const head: BackupHead = {
    playheadBackup: BACKUP_VERSION,
    schema: newestSchema(),
    createdAt: new Date().toISOString(),
  }
  await addEntry(tar, 'backup.json', Buffer.from(`${JSON.stringify(head)}\n`))
  const parts: Record<string, number> = {}
  for (const table of Object.keys(backupTables) as BackupTable[]) {
    parts[table] = 0
    for await (const block of tableBlocks(store, table, withSecrets)) {
      parts[table] += 1
      await addEntry(
        tar,
        `${table}/${String(parts[table]).padStart(6, '0')}.native.gz`,
        await compress(block, { level: 3 }),
      )
    }
  }
  for await (const place of objects.all()) {
    const content = await objects.read(place)
    if (content !== undefined) await addEntry(tar, `objects/${place.project}/${place.name}`, content)
  }
  // Marks the file as complete: a backup without it was cut off.
  await addEntry(tar, 'end.json', Buffer.from(`${JSON.stringify({ parts })}\n`))
  tar.finalize()
}

async function* tableBlocks(
  store: Store,
  table: BackupTable,
  withSecrets: boolean,
): AsyncGenerator<Buffer, void> {
  const column = backupTables[table]
  if (column === undefined) {
    const isSecret = table === 'destinations' && !withSecrets
    const columns = isSecret ? "* REPLACE ('{}' AS secrets)" : '*'
    const block = await readNative(store, `SELECT ${columns} FROM ${table} FINAL`, {})
    if (block.length > 0) yield block
    return
  }
  for (const project of await projectsIn(store, table)) {
    for (let last = ''; ;) {
      const end = await batchEnd(store, table, project, last)
      if (end === undefined) break
      yield await readNative(
        store,
        `SELECT * FROM ${table} WHERE project = {project:String} AND session_id > {last:String} AND session_id <= {end:String}`,
        { project, last, end },
      )
      last = end
    }
  }
}

async function projectsIn(store: Store, table: string): Promise<string[]> {
  const result = await store.client.query({
    query: `SELECT DISTINCT project FROM ${table} ORDER BY project`,
    format: 'JSONEachRow',
  })
  return (await result.json<{ project: string }>()).map((row) => row.project)
}

/** The last session id of the next batch; undefined when there are no more rows. */
async function batchEnd(
  store: Store,
  table: string,
  project: string,
  last: string,
): Promise<string | undefined> {
  const result = await store.client.query({
    query: `SELECT max(session_id) AS end, count() AS rows FROM (
        SELECT session_id FROM ${table} WHERE project = {project:String} AND session_id > {last:String}
        ORDER BY session_id LIMIT ${BATCH_ROWS})`,
    query_params: { project, last },
    format: 'JSONEachRow',
  })
  const [row] = await result.json<{ end: string; rows: number }>()
  return row === undefined || row.rows === 0 ? undefined : row.end
}

async function readNative(store: Store, query: string, params: Record<string, unknown>): Promise<Buffer> {
  const { stream } = await store.client.exec({ query: `${query} FORMAT Native`, query_params: params })
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** Waits until the entry was read, so that a backup never holds more than one batch in memory. */
function addEntry(tar: Pack, name: string, content: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const entry = tar.entry({ name, size: content.length }, (error) => (error ? reject(error) : resolve()))
    entry.end(content)
  })
}
