import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'

const FILE_NAME = 'revoked-keys'
const LINE = /^([0-9a-f]{64}) (\S+)$/

/**
 * The hashes of all keys that were revoked on this server, in a file of their own beside the store. A key works as long as
 * its row says so; this keeps it revoked although the row that revoked it was lost.
 */
export class RevokedKeys {
  readonly #path: string
  readonly #times: Map<string, string>

  private constructor(path: string, times: Map<string, string>) {
    this.#path = path
    this.#times = times
  }

  static async open(dataDirectory: string, report: (line: string) => void): Promise<RevokedKeys> {
    const path = join(dataDirectory, FILE_NAME)
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') report(`Can't read ${path}: ${error.message}`)
      return ''
    })
    const lines = text.split('\n').filter((line) => line !== '')
    const times = new Map<string, string>()
    for (const line of lines) {
      const [, hash, revokedAt] = LINE.exec(line) ?? []
      if (hash !== undefined && revokedAt !== undefined && !Number.isNaN(Date.parse(revokedAt)))
        times.set(hash, revokedAt)
    }
    if (times.size < new Set(lines).size)
      report(`${path} is damaged in ${new Set(lines).size - times.size} of ${lines.length} lines.`)
    return new RevokedKeys(path, times)
  }

  revokedAt(hash: string): string | undefined {
    return this.#times.get(hash)
  }

  /** Resolves once it is on disk. */
  async add(hash: string, revokedAt: string): Promise<void> {
    if (this.#times.has(hash)) return
    const file = await open(this.#path, 'a', 0o600)
    try {
      // A line that a crash cut off must not swallow this one.
      await file.appendFile(`\n${hash} ${revokedAt}\n`)
      await file.datasync()
    } finally {
      await file.close()
    }
    this.#times.set(hash, revokedAt)
  }
}
