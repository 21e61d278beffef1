import { createHash } from 'node:crypto'
import { chmodSync, cpSync, existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connectStore } from '../src/store/connect.ts'
import { migrations } from '../src/store/migrate.ts'

const cache = fileURLToPath(new URL('../../../node_modules/.cache/', import.meta.url))
const schema = createHash('sha256').update(JSON.stringify(migrations())).digest('hex').slice(0, 16)
const template = join(cache, `empty-store-${schema}`)

/**
 * A new folder for a server's data. Its store has its tables already: the tests start hundreds of servers, and creating the
 * tables takes half of the engine's time for that.
 */
export async function newDataDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'playhead-test-'))
  if (!existsSync(template)) return directory
  const store = join(directory, 'store')
  cpSync(template, store, { recursive: true, verbatimSymlinks: true })
  chmodSync(store, 0o700)
  return directory
}

/** Writes the store that `newDataDirectory` copies. Vitest calls it once, before the tests. */
export async function setup(): Promise<void> {
  if (existsSync(template)) return
  await mkdir(cache, { recursive: true })
  const data = await mkdtemp(join(cache, 'new-store-'))
  const path = join(data, 'store')
  const store = await connectStore({ path, report: console.error })
  await store.close()
  // Another run may have been faster.
  if (!existsSync(template)) await rename(path, template)
  await rm(data, { recursive: true })
}
