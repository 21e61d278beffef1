import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** The bytes that the files below a folder take on disk. */
export async function folderBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  const sizes = await Promise.all(
    entries.filter((entry) => entry.isFile()).map((entry) => blocksOf(join(entry.parentPath, entry.name))),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** One that a merge has removed meanwhile takes nothing. */
function blocksOf(file: string): Promise<number> {
  return stat(file).then(
    ({ blocks }) => blocks * 512,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return 0
      throw error
    },
  )
}
