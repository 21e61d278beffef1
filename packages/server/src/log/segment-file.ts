import { constants } from 'node:fs'
import { copyFile, link, open, readFile, rename, writeFile, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { DamagedFiles } from './damaged-files.ts'
import {
  countRows,
  newMarker,
  readFrames,
  toFrame,
  type EncodedBlock,
  type SegmentContents,
} from './frames.ts'
import { wholeBlocks } from './whole-blocks.ts'

/** One file of the log: acknowledged rows that the store may not have yet. */
export type Segment = {
  id: bigint
  path: string
  /** Begins the frames of this file; undefined in files of older versions, which are blocks without frames. */
  marker: string | undefined
  rows: number
  bytes: number
  /** The sessions with rows in it, each as `project` NUL `session`; undefined for a segment of an earlier process. */
  touched: Set<string> | undefined
  /** True if some of its rows are lost. */
  isDamaged: boolean
  /** True once memory lists the sessions with rows in it, and opens them. */
  isListed: boolean
  /** True once an insert may have happened. Before another one, check whether the store has the rows. */
  mayBeStored: boolean
  /** When its checksums were last compared, by `performance.now()`. */
  verifiedAtMs: number
}

/** A segment that an earlier process left; undefined if the name is not one of a segment. Verify it to know its rows. */
export function segmentFrom(directory: string, fileName: string): Segment | undefined {
  const match = /^(\d{20})(?:-([0-9a-f]{16})\.segment|\.native)$/.exec(fileName)
  if (match === null) return undefined
  const path = join(directory, fileName)
  return {
    id: BigInt(match[1]!),
    path,
    marker: match[2],
    rows: 0,
    bytes: 0,
    touched: undefined,
    isDamaged: false,
    isListed: false,
    mayBeStored: true,
    verifiedAtMs: -Infinity,
  }
}

const CHUNK_BYTES = 1024 * 1024
/** A store that is down is tried every few seconds. */
const VERIFIED_FOR_MS = 60_000

/**
 * Compares a segment with its checksums. If it is damaged, keeps the file aside, reports it, and puts a file with the
 * undamaged blocks in its place.
 */
export async function verifySegment(segment: Segment, name: string, damaged: DamagedFiles): Promise<void> {
  if (performance.now() - segment.verifiedAtMs < VERIFIED_FOR_MS) return
  await compareWithChecksums(segment, name, damaged)
  segment.verifiedAtMs = performance.now()
}

async function compareWithChecksums(segment: Segment, name: string, damaged: DamagedFiles): Promise<void> {
  if (segment.marker !== undefined && (await isIntact(segment, segment.marker))) return
  const bytes = await readFile(segment.path)
  const contents = segment.marker === undefined ? readBlocks(bytes) : readFrames(bytes, segment.marker)
  const missing = segment.bytes - bytes.length
  if (missing > 0)
    contents.damaged.push({
      start: bytes.length,
      end: segment.bytes,
      rows: contents.damaged.length === 0 ? segment.rows - contents.rows : undefined,
      isUnfinished: false,
    })
  if (contents.damaged.length > 0) {
    await damaged.add(basename(segment.path), (path) => keepCopy(segment.path, path), {
      problem: describeDamage(`segment ${segment.id} of the log of ${name}`, contents),
      blocks: contents.damaged.length,
      rows: lostRows(contents),
    })
    await replaceFile(
      segment.path,
      contents.readable.map(({ start, end }) => bytes.subarray(start, end)),
    )
    segment.isDamaged = true
    // The store may have some of its rows, and a count can't tell which. Inserting them again does no harm.
    if (contents.damaged.some(({ isUnfinished }) => !isUnfinished)) segment.mayBeStored = false
  }
  segment.rows = contents.rows
  segment.bytes = contents.readable.reduce((sum, { start, end }) => sum + end - start, 0)
}

async function isIntact(segment: Segment, marker: string): Promise<boolean> {
  const handle = await open(segment.path, 'r')
  try {
    const { size } = await handle.stat()
    const rows = await countRows(readChunks(handle), marker)
    if (rows === undefined || size < segment.bytes) return false
    segment.rows = rows
    segment.bytes = size
    return true
  } finally {
    await handle.close()
  }
}

/** Memory that no read uses. New buffers for each megabyte would ask for a full garbage collection every two segments. */
const spareChunks: Buffer[] = []

async function* readChunks(handle: FileHandle): AsyncGenerator<Buffer, void> {
  const chunk = spareChunks.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES)
  try {
    for (let at = 0; ;) {
      const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, at)
      if (bytesRead === 0) return
      at += bytesRead
      yield chunk.subarray(0, bytesRead)
    }
  } finally {
    spareChunks.push(chunk)
  }
}

/** A file of an older version has no checksums: all that can be found is an end that is not a block. */
function readBlocks(bytes: Buffer): SegmentContents {
  const { length, rows, blocks } = wholeBlocks(bytes)
  const rest = { start: length, end: bytes.length, rows: undefined, isUnfinished: true }
  return {
    rows,
    blocks,
    readable: [{ start: 0, end: length }],
    damaged: length < bytes.length ? [rest] : [],
  }
}

function lostRows({ damaged }: SegmentContents): number | null {
  let lost = 0
  for (const { rows } of damaged) {
    if (rows === undefined) return null
    lost += rows
  }
  return lost
}

function describeDamage(subject: string, contents: SegmentContents): string {
  const { damaged, blocks, rows } = contents
  const recovered = `${blocks} undamaged ${blocks === 1 ? 'block' : 'blocks'} (${rows} ${rows === 1 ? 'row' : 'rows'}) recovered.`
  if (damaged.every(({ isUnfinished }) => isUnfinished)) {
    const { start, end } = damaged[0]!
    return `${subject} ends in an incomplete write of ${end - start} bytes. A crash during a write leaves this behind, and such a write was not acknowledged; otherwise the file was truncated. ${recovered}`
  }
  const lost = lostRows(contents)
  return `${subject} is damaged: ${damaged.length} ${damaged.length === 1 ? 'block' : 'blocks'} can't be read (${lost === null ? 'an unknown number of rows' : `${lost} ${lost === 1 ? 'row' : 'rows'}`}). ${recovered}`
}

async function keepCopy(from: string, to: string): Promise<void> {
  // Not every file system has hard links.
  await link(from, to).catch(() => copyFile(from, to))
}

/** A crash leaves either the old file or the new one. */
async function replaceFile(path: string, pieces: readonly Buffer[]): Promise<void> {
  await writeFile(`${path}.new`, Buffer.concat(pieces), { flush: true })
  await rename(`${path}.new`, path)
  await syncDirectory(dirname(path))
}

/**
 * Linux writes and syncs in one call, which matters while the event loop is busy: every call waits for its turn. macOS would
 * not wait for the disk itself, and Windows has no such flag.
 */
const SYNCED_WRITES = process.platform === 'linux' ? constants.O_DSYNC : 0
const NEW_FILE = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | SYNCED_WRITES

/** A segment that accepts rows. */
export class OpenSegment {
  readonly segment: Segment
  readonly #marker: string
  readonly #handle: FileHandle
  /** The directory, until it was synced: a new file survives a power failure only if its directory was synced too. */
  #unsynced: FileHandle | undefined

  private constructor(segment: Segment, marker: string, handle: FileHandle, directory: FileHandle) {
    this.segment = segment
    this.#marker = marker
    this.#handle = handle
    this.#unsynced = directory
  }

  static async create(directory: string, id: bigint): Promise<OpenSegment> {
    const marker = newMarker()
    const path = join(directory, `${id.toString().padStart(20, '0')}-${marker}.segment`)
    const opening = [open(path, NEW_FILE), open(directory, 'r')] as const
    const [handle, parent] = await Promise.all(opening).catch(async (error: unknown) => {
      for (const opened of await Promise.allSettled(opening))
        if (opened.status === 'fulfilled') await opened.value.close()
      throw error
    })
    const counted = {
      rows: 0,
      bytes: 0,
      touched: new Set<string>(),
      isDamaged: false,
      isListed: false,
      mayBeStored: false,
      verifiedAtMs: -Infinity,
    }
    return new OpenSegment({ id, path, marker, ...counted }, marker, handle, parent)
  }

  /** Resolves once the blocks are on disk. If it fails, the file stays as it was. */
  async append(blocks: readonly EncodedBlock[]): Promise<void> {
    const pieces = blocks.flatMap((block) => toFrame(this.#marker, block))
    const size = pieces.reduce((sum, piece) => sum + piece.length, 0)
    const [written, named] = await Promise.allSettled([this.#write(pieces, size), this.#syncDirectory()])
    const failed = [written, named].find(({ status }) => status === 'rejected')
    if (failed !== undefined) {
      await this.#handle.truncate(this.segment.bytes)
      throw (failed as PromiseRejectedResult).reason
    }
    this.segment.rows += blocks.reduce((sum, block) => sum + block.rows, 0)
    this.segment.bytes += size
  }

  async #write(pieces: Buffer[], size: number): Promise<void> {
    const { bytesWritten } = await this.#handle.writev(pieces, this.segment.bytes)
    if (bytesWritten < size) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    if (SYNCED_WRITES === 0) await this.#handle.datasync()
  }

  async #syncDirectory(): Promise<void> {
    const directory = this.#unsynced
    if (directory === undefined) return
    await directory.sync()
    this.#unsynced = undefined
    // Nothing was written through it, so nobody has to wait for this.
    void directory.close().catch(() => undefined)
  }

  async close(): Promise<void> {
    await this.#unsynced?.close()
    await this.#handle.close()
  }
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
