import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { extract } from 'tar-stream'
import { MAX_OBJECT_BYTES, objectPlaceOf, type UploadedObjects } from '../store/uploaded-objects.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Registry } from '../access/registry.ts'
import type { JoinedTraces } from '../sessions/joined-traces.ts'
import type { SessionRefresher } from '../sessions/refresh-sessions.ts'
import type { StoredLogs } from '../sessions/stored-logs.ts'
import type { Store } from '../store/connect.ts'
import { migrations } from '../store/migrate.ts'
import { BACKUP_VERSION, backupTables, type BackupHead, type BackupTable } from './backup.ts'
import { sessionBatches } from './session-batches.ts'

export type RestoreResult = { parts: number; projects: number; sessions: number }

type Tables = { store: Store; storedLogs: StoredLogs }
type RestoreTargets = Tables & {
  objects: UploadedObjects
  registry: Registry
  joined: JoinedTraces
  refresher: SessionRefresher
}

/** Adds the contents of a backup to a running server. Existing data stays, and restoring twice duplicates nothing. */
export async function restoreBackup(targets: RestoreTargets, body: Readable): Promise<RestoreResult> {
  const { store, registry, joined, refresher } = targets
  const parts = await loadParts(targets, body)
  await registry.reload()
  let sessions = 0
  for (const { id } of registry.projects()) {
    // Sessions that existed before may have gained steps, so every session is recomputed.
    for await (const ids of sessionBatches(store.client, id)) {
      await refresher.refresh(id, ids)
      sessions += await joined.countSessions(id, ids)
    }
  }
  return { parts, projects: registry.projects().length, sessions }
}

async function loadParts(targets: Tables & { objects: UploadedObjects }, body: Readable): Promise<number> {
  const archive = extract()
  body.on('error', (error) => archive.destroy(error))
  body.pipe(archive)
  let [head, isComplete, parts]: [BackupHead | undefined, boolean, number] = [undefined, false, 0]
  try {
    for await (const entry of archive) {
      const name = entry.header.name
      if (name === 'backup.json') head = readHead(await readBytes(entry))
      else if (head === undefined) throw notABackup()
      else if (name === 'end.json') isComplete = true
      else {
        const object = objectPlaceOf(name)
        if (object !== undefined) await targets.objects.keep(object.project, await readBytes(entry))
        else await loadPart(targets, tableOf(name), entry)
        parts += 1
      }
      entry.resume()
    }
  } catch (error) {
    if (error instanceof KnownError) throw error
    throw new KnownError(
      'BAD_REQUEST',
      `Could not read the backup after ${parts} parts: ${(error as Error).message}`,
      { cause: error },
    )
  }
  if (head === undefined) throw notABackup()
  if (!isComplete) {
    throw new KnownError(
      'BAD_REQUEST',
      `The backup is incomplete: it ends after ${parts} parts. Those were restored; the rest is missing.`,
    )
  }
  return parts
}

async function loadPart(
  { store, storedLogs }: Tables,
  table: BackupTable,
  entry: AsyncIterable<unknown>,
): Promise<void> {
  if (table === 'logs') storedLogs.expectSome()
  const values = createGunzip()
  // The client reports a damaged stream while it reads. An error after the client gave up must not end the process.
  values.on('error', () => {})
  pipeline(Readable.from(entry), values, () => {})
  const { stream } = await store.client.exec({ query: `INSERT INTO ${table} FORMAT Native`, values })
  for await (const _ of stream) continue
}

function readHead(content: Buffer): BackupHead {
  let head: BackupHead
  try {
    head = JSON.parse(content.toString()) as BackupHead
  } catch {
    throw notABackup()
  }
  if (head.playheadBackup !== BACKUP_VERSION || head.schema > migrations().length) {
    throw new KnownError(
      'BAD_REQUEST',
      `The backup was made by a different version of Playhead (backup format ${head.playheadBackup}, schema ${head.schema}). This version reads backup format ${BACKUP_VERSION} up to schema ${migrations().length}.`,
    )
  }
  return head
}

/** The name comes from an untrusted file, so only our own tables are accepted. */
function tableOf(name: string): BackupTable {
  const table = name.split('/')[0] ?? ''
  if (!Object.hasOwn(backupTables, table) || !/^\w+\/\d{6}\.native\.gz$/.test(name)) {
    throw new KnownError(
      'BAD_REQUEST',
      `The backup contains "${name.slice(0, 80)}", which is not a Playhead table.`,
    )
  }
  return table as BackupTable
}

function notABackup(): KnownError {
  return new KnownError(
    'BAD_REQUEST',
    'This is not a Playhead backup. Create one with: playhead backup -o playhead.tar',
  )
}

/** Limited to the size of an object, because the file is untrusted. */
async function readBytes(stream: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream) {
    bytes += (chunk as Buffer).length
    if (bytes > MAX_OBJECT_BYTES) throw notABackup()
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}
