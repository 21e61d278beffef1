import { readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { DamagedFiles } from '../log/damaged-files.ts'

/**
 * The embedded engine keeps the definitions of its tables as plain text without a checksum: a flipped bit there makes the
 * whole store unreadable, or changes how values are read. So we keep a copy, and put it back.
 */
const COPY = 'definitions.json'

type Copy = { files: Record<string, string>; checksum: number }

/** Restores definitions that are not as they were after the last migration. Call it before the engine starts. */
export async function restoreDefinitions(store: string, damaged: DamagedFiles): Promise<void> {
  const copy = await readCopy(store)
  if (copy === undefined) return
  if (copy === 'damaged') {
    const keep = (path: string) => rename(join(store, COPY), path)
    const problem = 'the copy of the definitions of the tables is damaged. It is made again; nothing is lost.'
    return damaged.add(COPY, keep, { problem, blocks: null, rows: 0 })
  }
  const paths = Object.keys(copy.files).map((file) => join(store, file))
  const read = await Promise.all(paths.map((path) => readFile(path, 'utf8').catch(() => undefined)))
  for (const [index, [file, text]] of Object.entries(copy.files).entries()) {
    const path = paths[index]!
    const found = read[index]
    if (found === text) continue
    await damaged.add(file.replaceAll('/', '-'), (kept) => writeFile(kept, found ?? ''), {
      problem: `${file}, which defines a table of the store, was damaged. It was restored; nothing is lost.`,
      blocks: null,
      rows: 0,
    })
    await mkdir(dirname(path), { recursive: true })
    await replaceFile(path, text)
  }
}

/**
 * Restores the number of rows of parts that claim to be empty and are not: the engine deletes an empty part at its start. The
 * number stands in a second file too. Call it before the engine starts.
 */
export async function restoreRowCounts(store: string, damaged: DamagedFiles): Promise<void> {
  for (const folder of await tableFolders(store))
    for (const part of await readdir(join(store, folder))) {
      const path = join(store, folder, part, 'count.txt')
      const found = readSmall(path)
      if (found === undefined || Number.parseInt(found, 10) > 0) continue
      const columns = readSmall(join(store, folder, part, 'serialization.json')) ?? ''
      const rows = Number(/"num_rows":(\d+)/.exec(columns)?.[1] ?? 0)
      if (rows === 0) continue
      await damaged.add(`${part}-count.txt`, (kept) => writeFile(kept, found), {
        problem: `${folder}/${part}/count.txt, the number of rows of a part of the store, was damaged. It was restored (${rows}).`,
        blocks: null,
        rows: 0,
      })
      await replaceFile(path, String(rows))
    }
}

/** Reads synchronously: after a busy hour a store has hundreds of parts, and nothing else runs at this point of a start. */
function readSmall(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** Call it when all migrations are applied. */
export async function saveDefinitions(store: string): Promise<void> {
  const files = Object.fromEntries(
    await Promise.all(
      (await definitionFiles(store)).map(
        async (file) => [file, await readFile(join(store, file), 'utf8')] as const,
      ),
    ),
  )
  const copy: Copy = { files, checksum: checksumOf(files) }
  const saved = await readCopy(store)
  // Usually nothing has changed, and a start must not need disk space.
  if (typeof saved === 'object' && saved.checksum === copy.checksum) return
  await replaceFile(join(store, COPY), JSON.stringify(copy))
}

/** Call it before a definition changes: after a crash, the changed one is right. */
export async function forgetDefinitions(store: string): Promise<void> {
  await rm(join(store, COPY), { force: true })
}

async function readCopy(store: string): Promise<Copy | 'damaged' | undefined> {
  const text = await readFile(join(store, COPY), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  try {
    const copy = JSON.parse(text) as Copy
    return copy.checksum === checksumOf(copy.files) ? copy : 'damaged'
  } catch {
    return 'damaged'
  }
}

function checksumOf(files: Record<string, string>): number {
  return crc32(JSON.stringify(files))
}

async function definitionFiles(store: string): Promise<string[]> {
  const databases = (await readdir(join(store, 'tables/metadata'), { recursive: true }))
    .filter((file) => file.endsWith('.sql'))
    .map((file) => `tables/metadata/${file}`)
  const versions = (await tableFolders(store)).map((folder) => `${folder}/format_version.txt`)
  return [...databases, ...versions]
}

/** The folders that hold the parts of a table, relative to the store. */
export async function tableFolders(store: string): Promise<string[]> {
  const prefixes = await readdir(join(store, 'tables/store')).catch(() => [])
  const folders = await Promise.all(
    prefixes.map(async (prefix) => {
      const tables = await readdir(join(store, 'tables/store', prefix))
      return tables.map((table) => `tables/store/${prefix}/${table}`)
    }),
  )
  const files = await Promise.all(folders.flat().map((folder) => readdir(join(store, folder))))
  return folders.flat().filter((_, index) => files[index]!.includes('format_version.txt'))
}

async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { flush: true })
  await rename(`${path}.new`, path)
}
