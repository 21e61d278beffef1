import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const folder = join(import.meta.dirname, '../src/dialects')

/** The exports of each dialect file, by file name. */
export async function importDialectFiles(): Promise<Map<string, unknown[]>> {
  const files = readdirSync(folder).filter((file) => /^[a-z-]+\.ts$/.test(file) && file !== 'all-dialects.ts')
  const exported = new Map<string, unknown[]>()
  for (const file of files) {
    const url = pathToFileURL(join(folder, file)).href
    exported.set(file, Object.values((await import(/* @vite-ignore */ url)) as object))
  }
  return exported
}
