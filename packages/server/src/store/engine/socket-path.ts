import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where the operating system stops taking a unix socket's path, less a margin. */
const MAX_PATH_BYTES = 100

/** The path of a socket that belongs to a directory: inside it, or, when that is too deep, in the temporary folder. */
export function socketPath(directory: string, name: string): string {
  const inside = join(directory, name)
  if (Buffer.byteLength(inside) < MAX_PATH_BYTES) return inside
  const { dev, ino } = statSync(directory)
  return join(
    tmpdir(),
    `playhead-${createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 16)}-${name}`,
  )
}
