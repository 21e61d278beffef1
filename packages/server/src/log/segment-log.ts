import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { KnownError } from '../http/known-error.ts'
import { NativeBlock, type Columns, type RowOf } from './native-block.ts'
import { OpenSegment, recoverSegment, segmentId, type Segment } from './segment-file.ts'

export type SegmentLogOptions<Table extends Columns> = {
  directory: string
  columns: Table
  /** Where ids of new segments start; unique among all nodes that write to one store. */
  firstId: bigint
  /** Brings a segment's rows into the store, whole. Called for one segment at a time, again after a failure. */
  flush: (segment: Segment) => Promise<void>
  report: (line: string) => void
  /** Rows that may wait for the store before new ones are refused. */
  maxPendingRows?: number
  maxPendingBytes?: number
}

export type SegmentLogState = {
  pendingRows: number
  pendingBytes: number
  segments: number
  flushFailures: number
}

const MAX_SEGMENT_ROWS = 30_000
const MAX_SEGMENT_BYTES = 96 * 1024 * 1024
/** How soon a row is in the store when the log was quiet, and how often at most while rows trickle in. */
const QUIET_DELAY_MS = 150
const TRICKLE_DELAY_MS = 1_000
/** With more than this waiting, readers see a store that is a second or two behind rather than wait for it. */
const MAX_SETTLE_ROWS = 60_000

/**
 * The write-ahead log: `append` returns when the rows are on disk, the store gets them a little later. Requests that
 * arrive together share one write and one sync.
 */
export class SegmentLog<Table extends Columns> {
  readonly #options: SegmentLogOptions<Table>
  readonly #sealed: Segment[] = []
  #block: NativeBlock<Table>
  #touched = new Set<string>()
  #waiting: { resolve: () => void; reject: (error: unknown) => void }[] = []
  #open: OpenSegment | undefined
  #nextId: bigint
  #committing: Promise<void> | undefined
  #flushing: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #isSealDue = false
  #lastSealMs = -Infinity
  #flushFailures = 0
  #isClosed = false

  private constructor(options: SegmentLogOptions<Table>) {
    this.#options = options
    this.#nextId = options.firstId
    this.#block = new NativeBlock(options.columns)
  }

  /** Opens the log of a directory; segments that an earlier process left are flushed before anything else. */
  static async open<Table extends Columns>(options: SegmentLogOptions<Table>): Promise<SegmentLog<Table>> {
    await mkdir(options.directory, { recursive: true })
    const log = new SegmentLog(options)
    const ids = (await readdir(options.directory)).flatMap((name) => segmentId(name) ?? [])
    for (const id of ids.sort((left, right) => (left < right ? -1 : 1))) {
      const segment = await recoverSegment(options.directory, id)
      if (segment !== undefined) log.#sealed.push(segment)
      if (id >= log.#nextId) log.#nextId = id + 1n
    }
    if (log.#sealed.length > 0) log.#startFlushing()
    return log
  }

  /** Resolves when the rows are on disk. `touched` are the sessions they belong to, as `project` NUL `session`. */
  append(rows: readonly RowOf<Table>[], touched: Iterable<string>): Promise<void> {
    if (this.#isClosed) return Promise.reject(new KnownError('STORE_UNAVAILABLE', 'The server is stopping.'))
    const busy = this.#overload()
    if (busy !== undefined) return Promise.reject(busy)
    if (rows.length === 0) return Promise.resolve()
    for (const row of rows) this.#block.append(row)
    for (const session of touched) this.#touched.add(session)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      void this.#startCommitting()
    })
  }

  /** Resolves when everything acknowledged so far is in the store; at once when the store is far behind. */
  async settle(): Promise<void> {
    if (this.state().pendingRows > MAX_SETTLE_ROWS) return
    await this.drain()
  }

  /** Resolves when everything acknowledged so far is in the store; rejects when the store does not take it. */
  async drain(): Promise<void> {
    const failures = this.#flushFailures
    this.#isSealDue = true
    await this.#startCommitting()
    while (this.#sealed.length > 0 && this.#flushFailures === failures) await this.#flushing
    if (this.#flushFailures !== failures) {
      throw new KnownError(
        'STORE_UNAVAILABLE',
        'The store does not take rows at the moment; they are kept in the log. Try again.',
      )
    }
  }

  state(): SegmentLogState {
    const segments = this.#open === undefined ? this.#sealed : [...this.#sealed, this.#open.segment]
    return {
      pendingRows: segments.reduce((sum, segment) => sum + segment.rows, 0),
      pendingBytes: segments.reduce((sum, segment) => sum + segment.bytes, 0),
      segments: segments.length,
      flushFailures: this.#flushFailures,
    }
  }

  /** Refuses new rows and brings what it has into the store; what the store does not take stays on disk. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.drain().catch((error: Error) => this.#options.report(`at the end: ${error.message}`))
    await this.#open?.close()
  }

  #overload(): KnownError | undefined {
    const { pendingRows, pendingBytes } = this.state()
    const { maxPendingRows = 2_000_000, maxPendingBytes = 2 * 1024 ** 3 } = this.#options
    if (pendingRows < maxPendingRows && pendingBytes < maxPendingBytes) return undefined
    return new KnownError(
      'SERVER_BUSY',
      `${pendingRows} rows wait for the store; nothing more is taken until it catches up.`,
      {
        retryAfterSeconds: 5,
      },
    )
  }

  #startCommitting(): Promise<void> {
    this.#committing ??= this.#commit().finally(() => (this.#committing = undefined))
    return this.#committing
  }

  /** The only code that touches the open segment: writes and seals take turns. */
  async #commit(): Promise<void> {
    while (this.#waiting.length > 0 || this.#isSealDue) {
      if (this.#waiting.length > 0) await this.#writeBlock()
      const open = this.#open?.segment
      const isFull = open !== undefined && (open.rows >= MAX_SEGMENT_ROWS || open.bytes >= MAX_SEGMENT_BYTES)
      if (isFull || this.#isSealDue) await this.#seal()
      else if (open !== undefined && open.rows > 0) this.#sealSoon()
    }
  }

  async #writeBlock(): Promise<void> {
    const [block, waiting, touched] = [this.#block, this.#waiting, this.#touched]
    this.#block = new NativeBlock(this.#options.columns)
    this.#waiting = []
    this.#touched = new Set()
    try {
      this.#open ??= await OpenSegment.create(this.#options.directory, this.#nextId++)
      const { segment } = this.#open
      await this.#open.append(block.pieces({ name: 'segment', value: segment.id }), block.rows)
      for (const session of touched) segment.touched?.add(session)
      for (const { resolve } of waiting) resolve()
    } catch (error) {
      const known = writeError(error)
      for (const { reject } of waiting) reject(known)
    }
  }

  #sealSoon(): void {
    if (this.#timer !== undefined || this.#isClosed) return
    const sinceLast = performance.now() - this.#lastSealMs
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined
        // While a flush is under way the segment may as well grow.
        if (this.#flushing !== undefined) return this.#sealSoon()
        this.#isSealDue = true
        void this.#startCommitting()
      },
      Math.max(QUIET_DELAY_MS, TRICKLE_DELAY_MS - sinceLast),
    )
  }

  async #seal(): Promise<void> {
    this.#isSealDue = false
    const open = this.#open
    if (open !== undefined && open.segment.rows > 0) {
      this.#open = undefined
      this.#lastSealMs = performance.now()
      await open.close()
      this.#sealed.push(open.segment)
    }
    if (this.#sealed.length > 0) this.#startFlushing()
  }

  #startFlushing(): void {
    this.#flushing ??= this.#flushAll().finally(() => (this.#flushing = undefined))
  }

  /** A segment that can never be stored must not hold up the others; its file stays for a person to look at. */
  async #setAside(segment: Segment, error: Error): Promise<void> {
    await rename(segment.path, `${segment.path}.rejected`)
    this.#sealed.shift()
    this.#options.report(
      `segment ${segment.id} was set aside as ${segment.path}.rejected: ${errorText(error)}`,
    )
  }

  async #flushAll(): Promise<void> {
    for (let failures = 0; this.#sealed.length > 0;) {
      const segment = this.#sealed[0]!
      try {
        await this.#options.flush(segment)
        await rm(segment.path, { force: true })
        this.#sealed.shift()
        failures = 0
      } catch (error) {
        if (isPermanent(error)) {
          await this.#setAside(segment, error)
          continue
        }
        failures += 1
        this.#flushFailures += 1
        if (failures === 1)
          this.#options.report(`segment ${segment.id} is not in the store yet: ${errorText(error)}`)
        if (this.#isClosed) return
        await new Promise((resolve) => setTimeout(resolve, Math.min(5_000, 100 * 2 ** failures)))
      }
    }
  }
}

/** Marks an error that no retry can mend: the store understood the segment and refuses it. */
export type PermanentError = Error & { isPermanent: true }

function isPermanent(error: unknown): error is PermanentError {
  return error instanceof Error && (error as Partial<PermanentError>).isPermanent === true
}

function writeError(error: unknown): KnownError {
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new KnownError(
      'DISK_FULL',
      'The disk is full: nothing was stored. Make room in PLAYHEAD_DATA and send it again.',
      {
        cause: error,
        retryAfterSeconds: 10,
      },
    )
  }
  return new KnownError(
    'STORE_UNAVAILABLE',
    `The log can't be written (${errorText(error)}): nothing was stored.`,
    { cause: error },
  )
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 500) : String(error)
}
