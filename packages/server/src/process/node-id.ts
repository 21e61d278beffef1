import { randomInt } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

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
