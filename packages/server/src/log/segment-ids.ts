import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { randomInt } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'

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

/** Segments of one node that fit below the next node's: with it, ids stay below 2^53 and JSON can carry them. */
const SEGMENTS_PER_NODE = 2n ** 33n
const MAX_NODES = 2 ** 20

/** Where this node's segment ids begin. Chance keeps nodes apart that write to one store. */
export function firstSegmentId(directory: string): bigint {
  mkdirSync(directory, { recursive: true })
  const path = join(directory, 'node-id')
  try {
    return BigInt(readFileSync(path, 'utf8').trim()) * SEGMENTS_PER_NODE
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    const id = randomInt(MAX_NODES)
    writeFileSync(path, `${id}\n`, { flush: true })
    return BigInt(id) * SEGMENTS_PER_NODE
  }
}
