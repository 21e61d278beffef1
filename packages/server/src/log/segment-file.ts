import { open, readFile, rm, truncate, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { wholeBlocks } from './whole-blocks.ts'

/** One file of the log: acknowledged rows that the store may not have yet. */
export type Segment = {
  id: bigint
  path: string
  rows: number
  bytes: number
  /** The sessions with rows in it, each as `project` NUL `session`; undefined for a segment of an earlier process. */
  touched: Set<string> | undefined
  /** True once an insert may have happened. Before another one, check whether the store has the rows. */
  mayBeStored: boolean
}

function segmentPath(directory: string, id: bigint): string {
  return join(directory, `${id.toString().padStart(20, '0')}.native`)
}

export function segmentId(fileName: string): bigint | undefined {
  const match = /^(\d{20})\.native$/.exec(fileName)
  return match === null ? undefined : BigInt(match[1]!)
}

/** Reopens a segment that an earlier process left, without the incomplete write it may end in. */
export async function recoverSegment(directory: string, id: bigint): Promise<Segment | undefined> {
  const path = segmentPath(directory, id)
  const bytes = await readFile(path)
  const whole = wholeBlocks(bytes)
  if (whole.rows === 0) {
    await rm(path, { force: true })
    return undefined
  }
  if (whole.length < bytes.length) await truncate(path, whole.length)
  return { id, path, rows: whole.rows, bytes: whole.length, touched: undefined, mayBeStored: true }
}

/** A segment that accepts rows. */
export class OpenSegment {
  readonly segment: Segment
  readonly openedAtMs = performance.now()
  readonly #handle: FileHandle

  private constructor(segment: Segment, handle: FileHandle) {
    this.segment = segment
    this.#handle = handle
  }

  static async create(directory: string, id: bigint): Promise<OpenSegment> {
    const path = segmentPath(directory, id)
    const handle = await open(path, 'wx')
    await syncDirectory(directory)
    return new OpenSegment({ id, path, rows: 0, bytes: 0, touched: new Set(), mayBeStored: false }, handle)
  }

  /** Resolves once the blocks are on disk. If it fails, the file stays as it was. */
  async append(pieces: Buffer[], rows: number): Promise<void> {
    const size = pieces.reduce((sum, piece) => sum + piece.length, 0)
    try {
      const { bytesWritten } = await this.#handle.writev(pieces, this.segment.bytes)
      if (bytesWritten < size) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
      await this.#handle.datasync()
    } catch (error) {
      await this.#handle.truncate(this.segment.bytes)
      throw error
    }
    this.segment.rows += rows
    this.segment.bytes += size
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }
}

/** A new file survives a power failure only if its directory was synced too. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
