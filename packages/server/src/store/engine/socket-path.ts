import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The longest path that operating systems accept for a unix socket, less a margin. */
const MAX_PATH_BYTES = 100

/** The path of a directory's socket: inside the directory, or in the temporary folder if that path would be too long. */
export function socketPath(directory: string, name: string): string {
  const inside = join(directory, name)
  if (Buffer.byteLength(inside) < MAX_PATH_BYTES) return inside
  const { dev, ino } = statSync(directory)
  return join(
    tmpdir(),
    `playhead-${createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 16)}-${name}`,
  )
}
