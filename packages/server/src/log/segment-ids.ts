import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { randomInt } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'

const FILE = 'next-id'
/** Ids are reserved in batches, so that a new segment rarely costs another write. */
const BATCH_SIZE = 1_000n

/**
 * Numbers the segments of a directory. No id is ever used twice, not even after a restart: rows carry the id, and if the
 * store had rows of an older segment with the same id, a new segment would look as if it were already stored.
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

  async next(): Promise<bigint> {
    if (this.#next >= this.#reservedEnd) {
      await writeUnused(join(this.#directory, FILE), this.#next + BATCH_SIZE)
      this.#reservedEnd = this.#next + BATCH_SIZE
    }
    return this.#next++
  }

  skipTo(id: bigint): void {
    if (id > this.#next) this.#next = id
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

/** Writes a new file and renames it, so that a reader finds either the old number or the new one. */
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

/** The range of ids of each node. Keeps all ids below 2^53, so that JSON can carry them. */
const SEGMENTS_PER_NODE = 2n ** 33n
const MAX_NODES = 2 ** 20

/** Where this node's segment ids begin. Nodes that write to one store get different ranges at random. */
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
