import { randomInt } from 'node:crypto'
import { copyFile, mkdir, open, readFile, rename } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { DamagedFiles } from './damaged-files.ts'

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

  static async open(
    directory: string,
    { firstId, name, damaged }: { firstId: bigint; name: string; damaged: DamagedFiles },
  ): Promise<SegmentIds> {
    const path = join(directory, FILE)
    const unused = await readNumber(path)
    if (typeof unused === 'bigint') return new SegmentIds(directory, unused)
    if (unused === 'missing') return new SegmentIds(directory, firstId)
    // Which ids were used is unknown now, so the next ones come from another range.
    const next = randomRange() * SEGMENTS_PER_NODE
    await replaceDamaged(path, next, {
      damaged,
      problem: `the file with the number of the next segment of the log of ${name} is damaged. Segments are numbered from ${next} now; nothing is lost.`,
    })
    return new SegmentIds(directory, next)
  }

  async next(): Promise<bigint> {
    if (this.#next >= this.#reservedEnd) {
      await writeNumber(join(this.#directory, FILE), this.#next + BATCH_SIZE)
      this.#reservedEnd = this.#next + BATCH_SIZE
    }
    return this.#next++
  }

  skipTo(id: bigint): void {
    if (id > this.#next) this.#next = id
  }
}

/** Files of older versions have no checksum behind the number. */
const numberLine = /^(\d{1,16})(?: ([0-9a-f]{8}))?\n?$/

async function readNumber(path: string): Promise<bigint | 'missing' | 'damaged'> {
  try {
    const [, digits, checksum] = numberLine.exec(await readFile(path, 'latin1')) ?? []
    if (digits === undefined) return 'damaged'
    return checksum === undefined || checksum === checksumOf(digits) ? BigInt(digits) : 'damaged'
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'missing'
    throw error
  }
}

/** Writes a new file and renames it, so that a reader finds either the old number or the new one. */
async function writeNumber(path: string, value: bigint): Promise<void> {
  const handle = await open(`${path}.new`, 'w')
  try {
    await handle.writeFile(`${value} ${checksumOf(String(value))}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(`${path}.new`, path)
}

async function replaceDamaged(
  path: string,
  value: bigint,
  { damaged, problem }: { damaged: DamagedFiles; problem: string },
): Promise<void> {
  await damaged.add(basename(path), (kept) => copyFile(path, kept), { problem, blocks: null, rows: 0 })
  await writeNumber(path, value)
}

function checksumOf(digits: string): string {
  return crc32(digits).toString(16).padStart(8, '0')
}

/** The range of ids of each node. Keeps all ids below 2^53, so that JSON can carry them. */
export const SEGMENTS_PER_NODE = 2n ** 33n
const MAX_NODES = 2 ** 20

/** Not 0: rows that the store copied itself have that segment. */
function randomRange(): bigint {
  return BigInt(randomInt(1, MAX_NODES))
}

/** Where this node's segment ids begin. Nodes that write to one store get different ranges at random. */
export async function firstSegmentId(directory: string, damaged: DamagedFiles): Promise<bigint> {
  await mkdir(directory, { recursive: true })
  const path = join(directory, 'node-id')
  const known = await readNumber(path)
  if (typeof known === 'bigint' && known < MAX_NODES) return known * SEGMENTS_PER_NODE
  const id = randomRange()
  if (known === 'missing') await writeNumber(path, id)
  else
    await replaceDamaged(path, id, {
      damaged,
      problem: `the file with the number of this node is damaged. The node has a new number, ${id}; nothing is lost.`,
    })
  return id * SEGMENTS_PER_NODE
}
