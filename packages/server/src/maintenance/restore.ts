import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { extract } from 'tar-stream'
import { MAX_OBJECT_BYTES, objectPlaceOf } from '../store/uploaded-objects.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Services } from '../process/services.ts'
import { migrations } from '../store/migrate.ts'
import { BACKUP_VERSION, backupTables, type BackupHead, type BackupTable } from './backup.ts'
import { sessionBatches } from './session-batches.ts'

export type RestoreResult = { parts: number; projects: number; sessions: number }

/** Adds what a backup holds to a running server; what is there already stays, and nothing is there twice. */
export async function restoreBackup(services: Services, body: Readable): Promise<RestoreResult> {
  const { store, registry, refresher } = services
  const parts = await loadParts(services, body)
  await registry.reload()
  let sessions = 0
  for (const { id } of registry.projects()) {
    // Sessions that were here before may have gained steps: all are computed from what is there now.
    for await (const ids of sessionBatches(store.client, id)) {
      await refresher.refresh(id, ids)
      sessions += ids.length
    }
  }
  return { parts, projects: registry.projects().length, sessions }
}

async function loadParts(services: Services, body: Readable): Promise<number> {
  const archive = extract()
  body.on('error', (error) => archive.destroy(error))
  body.pipe(archive)
  let [head, isWhole, parts]: [BackupHead | undefined, boolean, number] = [undefined, false, 0]
  try {
    for await (const entry of archive) {
      const name = entry.header.name
      if (name === 'backup.json') head = readHead(await readText(entry))
      else if (head === undefined) throw notABackup()
      else if (name === 'end.json') isWhole = true
      else {
        const object = objectPlaceOf(name)
        if (object !== undefined) await services.objects.keep(object.project, await readBytes(entry))
        else await loadPart(services, tableOf(name), entry)
        parts += 1
      }
      entry.resume()
    }
  } catch (error) {
    if (error instanceof KnownError) throw error
    throw new KnownError(
      'BAD_REQUEST',
      `The backup can't be read after ${parts} parts: ${(error as Error).message}`,
      { cause: error },
    )
  }
  if (head === undefined) throw notABackup()
  if (!isWhole) {
    throw new KnownError(
      'BAD_REQUEST',
      `The backup is cut off after ${parts} parts. What it had is restored; the rest is missing.`,
    )
  }
  return parts
}

async function loadPart(
  { store, storedLogs }: Services,
  table: BackupTable,
  entry: AsyncIterable<unknown>,
): Promise<void> {
  if (table === 'logs') storedLogs.expectSome()
  const values = createGunzip()
  // The client reports damage when it reads; damage that shows after it gave up must not end the process.
  values.on('error', () => {})
  pipeline(Readable.from(entry), values, () => {})
  const { stream } = await store.client.exec({ query: `INSERT INTO ${table} FORMAT Native`, values })
  for await (const _ of stream) continue
}

function readHead(text: string): BackupHead {
  let head: BackupHead
  try {
    head = JSON.parse(text) as BackupHead
  } catch {
    throw notABackup()
  }
  if (head.playheadBackup !== BACKUP_VERSION || head.schema > migrations().length) {
    throw new KnownError(
      'BAD_REQUEST',
      `The backup was made by another Playhead (backup ${head.playheadBackup}, schema ${head.schema}); this one reads backup ${BACKUP_VERSION} up to schema ${migrations().length}.`,
    )
  }
  return head
}

/** Only our own tables: the name in the file is a stranger's word. */
function tableOf(name: string): BackupTable {
  const table = name.split('/')[0] ?? ''
  if (!Object.hasOwn(backupTables, table) || !/^\w+\/\d{6}\.native\.gz$/.test(name)) {
    throw new KnownError(
      'BAD_REQUEST',
      `The backup holds "${name.slice(0, 80)}", which is no table of Playhead.`,
    )
  }
  return table as BackupTable
}

function notABackup(): KnownError {
  return new KnownError(
    'BAD_REQUEST',
    'This is not a backup of Playhead. Make one with: playhead backup -o playhead.tar',
  )
}

async function readText(stream: AsyncIterable<unknown>): Promise<string> {
  return (await readBytes(stream)).toString()
}

/** No more than an object may have: a backup may be anybody's file. */
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
