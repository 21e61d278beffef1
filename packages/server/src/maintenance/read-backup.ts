import type { Readable } from 'node:stream'
import { toObject } from '@playhead/model'
import { extract } from 'tar-stream'
import { KnownError } from '../errors/known-error.ts'
import type { Store } from '../store/connect.ts'
import { newestSchema } from '../store/migrate.ts'
import { MAX_OBJECT_BYTES, objectPlaceOf, type UploadedObjects } from '../store/uploaded-objects.ts'
import { BACKUP_VERSION, backupTables, type BackupHead, type BackupTable } from './backup.ts'
import { loadPart, restoredTables, type RestoredTable } from './restore-tables.ts'

/** Loads a backup into the incoming tables, and its objects into `objects`. Throws unless it is complete. */
export async function readBackup(
  store: Store,
  objects: UploadedObjects,
  body: Readable,
): Promise<BackupHead> {
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
        if (object !== undefined) {
          if ((await objects.keep(object.project, await readBytes(entry))) !== object.name)
            throw new Error(`the object ${name} does not match its hash`)
        } else {
          const table = tableOf(name)
          // Sessions are computed from their steps.
          if (isRestored(table)) await loadPart(store, table, entry)
        }
        parts += 1
      }
      entry.resume()
    }
  } catch (error) {
    if (error instanceof KnownError) throw error
    throw new KnownError(
      'BAD_REQUEST',
      `Nothing was restored: could not read the backup after ${parts} parts: ${(error as Error).message}`,
      { cause: error },
    )
  }
  if (head === undefined) throw notABackup()
  if (!isComplete) {
    throw new KnownError(
      'BAD_REQUEST',
      `Nothing was restored: the backup is incomplete, it ends after ${parts} parts.`,
    )
  }
  return head
}

function isRestored(table: BackupTable): table is RestoredTable {
  return Object.hasOwn(restoredTables, table)
}

function readHead(content: Buffer): BackupHead {
  let head: Partial<Record<keyof BackupHead, unknown>>
  try {
    head = toObject(JSON.parse(content.toString()))
  } catch {
    throw notABackup()
  }
  const { playheadBackup, schema, createdAt } = head
  if (playheadBackup !== BACKUP_VERSION || typeof schema !== 'number' || schema > newestSchema()) {
    throw new KnownError(
      'BAD_REQUEST',
      `The backup was made by a different version of Playhead (backup format ${String(playheadBackup)}, schema ${String(schema)}). This version reads backup format ${BACKUP_VERSION} up to schema ${newestSchema()}.`,
    )
  }
  return { playheadBackup, schema, createdAt: typeof createdAt === 'string' ? createdAt : 'unknown' }
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
