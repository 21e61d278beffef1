import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'

const FILE = 'next-id'
/** Ids are set aside this many at a time, so that a new segment rarely costs another write. */
const RESERVED_AT_ONCE = 1_000n

/**
 * Numbers segments. No id is ever given twice for one directory, whatever was flushed and deleted before a restart:
 * rows carry the id, and a segment would be taken for stored when the store has rows of an older one with its number.
 */
export class SegmentIds {
  readonly #directory: string
  #next: bigint
  #reservedEnd: bigint

  private constructor(directory: string, next: bigint) {
    this.#directory = directory
    this.#next = next
    this.#reservedEnd = next
  }

  static async open(directory: string, firstId: bigint): Promise<SegmentIds> {
    const unused = await readUnused(join(directory, FILE))
    return new SegmentIds(directory, unused > firstId ? unused : firstId)
  }

  async take(): Promise<bigint> {
    if (this.#next >= this.#reservedEnd) {
      await writeUnused(join(this.#directory, FILE), this.#next + RESERVED_AT_ONCE)
      this.#reservedEnd = this.#next + RESERVED_AT_ONCE
    }
    return this.#next++
  }

  /** For a segment that was found: what comes next has a higher number. */
  passOver(id: bigint): void {
    if (id >= this.#next) this.#next = id + 1n
  }
}

async function readUnused(path: string): Promise<bigint> {
  try {
    return BigInt((await readFile(path, 'utf8')).trim())
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0n
    throw error
  }
}

/** Renamed into place: whoever reads it finds the old number or the new one. */
async function writeUnused(path: string, id: bigint): Promise<void> {
  const handle = await open(`${path}.new`, 'w')
  try {
    await handle.writeFile(`${id}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(`${path}.new`, path)
}
