import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { diskFull, isDiskFull } from '../errors/disk-full.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Columns, NativeBlock } from './native-block.ts'
import { PendingRows } from './pending-rows.ts'
import { OpenSegment, recoverSegment, segmentId, type Segment } from './segment-file.ts'
import { SegmentIds } from './segment-ids.ts'

export type SegmentLogOptions<Row> = {
  directory: string
  columns: Columns<Row>
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
/** The engine takes a segment whole, and needs up to ten times its size to index the words in it. */
const MAX_SEGMENT_BYTES = 64 * 1024 * 1024
/** Rows that wait for the write before theirs: as much as a burst brings, and no more. */
const MAX_PENDING_BYTES = 32 * 1024 * 1024
/** How soon a row is in the store when the log was quiet, and how often at most while rows trickle in. */
const QUIET_DELAY_MS = 150
const TRICKLE_DELAY_MS = 1_000
/** With more than this waiting, readers see a store that is a second or two behind rather than wait for it. */
const MAX_CATCH_UP_ROWS = 60_000
const MAX_CATCH_UP_MS = 10_000
/** A reader makes a store that refused rows be tried again, but not before this long after the last time. */
const CATCH_UP_RETRY_MS = 500

/**
 * The write-ahead log: `append` returns when the rows are on disk, the store gets them a little later. Requests that
 * arrive together share one write and one sync.
 */
export class SegmentLog<Row> {
  readonly #options: SegmentLogOptions<Row>
  readonly #sealed: Segment[] = []
  #pending: PendingRows<Row>
  /** What was written last, empty again; undefined while it is being written. */
  #spare: PendingRows<Row> | undefined
  #touched = new Set<string>()
  #pendingBytes = 0
  #waiting: { resolve: () => void; reject: (error: unknown) => void }[] = []
  #waitingForRoom: (() => void)[] = []
  #open: OpenSegment | undefined
  readonly #ids: SegmentIds
  #isCommitting = false
  #isFlushing = false
  #timer: NodeJS.Timeout | undefined
  /** Resolved by the next seal; undefined while nobody asked for one. */
  #sealDue: PromiseWithResolvers<void> | undefined
  /** Resolved when the next attempt to flush a segment has ended, one way or the other. */
  #attempt = Promise.withResolvers<void>()
  /** Resolved to try again at once; undefined while nothing waits for its next try. */
  #retry: PromiseWithResolvers<void> | undefined
  #lastSealMs = -Infinity
  #flushFailures = 0
  #failuresInARow = 0
  #lastFailureMs = -Infinity
  #isClosed = false

  private constructor(options: SegmentLogOptions<Row>, ids: SegmentIds) {
    this.#options = options
    this.#ids = ids
    this.#pending = new PendingRows(options.columns)
  }

  /** Opens the log of a directory; segments that an earlier process left are flushed before anything else. */
  static async open<Row>(options: SegmentLogOptions<Row>): Promise<SegmentLog<Row>> {
    await mkdir(options.directory, { recursive: true })
    const log = new SegmentLog(options, await SegmentIds.open(options.directory, options.firstId))
    const ids = (await readdir(options.directory)).flatMap((name) => segmentId(name) ?? [])
    for (const id of ids.sort((left, right) => (left < right ? -1 : 1))) {
      const segment = await recoverSegment(options.directory, id)
      if (segment !== undefined) log.#sealed.push(segment)
      log.#ids.passOver(id)
    }
    if (log.#sealed.length > 0) log.#startFlushing()
    return log
  }

  /** Resolves when the rows are on disk. `touched` are the sessions they belong to, as `project` NUL `session`. */
  append(rows: Iterable<Row>, touched: Iterable<string>): Promise<void> {
    if (this.#isClosed) return Promise.reject(new KnownError('STORE_UNAVAILABLE', 'The server is stopping.'))
    const busy = this.#overload()
    if (busy !== undefined) return Promise.reject(busy)
    const rowsBefore = this.#pending.rows
    this.#pending.appendAll(rows)
    if (this.#pending.rows === rowsBefore) return Promise.resolve()
    this.#pendingBytes = this.#pending.bytes
    for (const session of touched) this.#touched.add(session)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#startCommitting()
    })
  }

  /**
   * True while what waits to be written is enough. Whoever is about to decode a request looks here at that moment and
   * waits: a request that has not been decoded takes the least memory.
   */
  get isCrowded(): boolean {
    return this.#pendingBytes > MAX_PENDING_BYTES
  }

  /** Resolves when a write has taken what waits. */
  room(): Promise<void> {
    return new Promise((resolve) => this.#waitingForRoom.push(resolve))
  }

  /** For readers: the same as `drain`, but a store that is far behind or takes nothing keeps nobody from reading. */
  async catchUp(): Promise<void> {
    if (this.state().pendingRows > MAX_CATCH_UP_ROWS) return
    if (this.#failuresInARow > 0 && performance.now() - this.#lastFailureMs < CATCH_UP_RETRY_MS) return
    const patience = Promise.withResolvers<void>()
    const timer = setTimeout(patience.resolve, MAX_CATCH_UP_MS)
    // What the store refuses was reported when it did.
    await Promise.race([this.drain().catch(() => undefined), patience.promise])
    clearTimeout(timer)
  }

  /** Resolves when everything acknowledged so far is in the store; rejects when the store does not take it. */
  async drain(): Promise<void> {
    const failures = this.#flushFailures
    await this.#sealNow()
    this.#retry?.resolve()
    const last = this.#sealed.at(-1)
    // Segments sealed from here on are not waited for: under load there would always be one more.
    const isWaiting = () =>
      last !== undefined && this.#sealed.includes(last) && this.#flushFailures === failures
    while (isWaiting()) await this.#attempt.promise
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

  #sealNow(): Promise<void> {
    this.#sealDue ??= Promise.withResolvers<void>()
    const { promise } = this.#sealDue
    this.#startCommitting()
    return promise
  }

  #startCommitting(): void {
    if (!this.#isCommitting) void this.#commit()
  }

  /** The only code that touches the open segment: writes and seals take turns. */
  async #commit(): Promise<void> {
    this.#isCommitting = true
    while (this.#waiting.length > 0 || this.#sealDue !== undefined) {
      if (this.#waiting.length > 0) await this.#writePending()
      if (this.#isOpenFull() || this.#sealDue !== undefined) await this.#seal()
      else if (this.#open !== undefined && this.#open.segment.rows > 0) this.#sealSoon()
    }
    this.#isCommitting = false
  }

  async #writePending(): Promise<void> {
    const [pending, waiting, touched] = [this.#pending, this.#waiting, this.#touched]
    this.#pending = this.#spare ?? new PendingRows(this.#options.columns)
    this.#spare = undefined
    this.#pendingBytes = 0
    this.#waiting = []
    this.#touched = new Set()
    for (const resume of this.#waitingForRoom.splice(0)) resume()
    try {
      for (const blocks of pending.groups(MAX_SEGMENT_BYTES, this.#open?.segment.bytes ?? 0)) {
        if (this.#isOpenFull()) await this.#seal()
        await this.#write(blocks, touched)
      }
      for (const { resolve } of waiting) resolve()
    } catch (error) {
      const known = writeError(error)
      for (const { reject } of waiting) reject(known)
    }
    pending.clear()
    this.#spare = pending
  }

  async #write(blocks: readonly NativeBlock<Row>[], touched: ReadonlySet<string>): Promise<void> {
    this.#open ??= await OpenSegment.create(this.#options.directory, await this.#ids.take())
    const { segment } = this.#open
    const rows = blocks.reduce((sum, block) => sum + block.rows, 0)
    await this.#open.append(
      blocks.flatMap((block) => block.pieces({ name: 'segment', value: segment.id })),
      rows,
    )
    for (const session of touched) segment.touched?.add(session)
  }

  #isOpenFull(): boolean {
    const open = this.#open?.segment
    return open !== undefined && (open.rows >= MAX_SEGMENT_ROWS || open.bytes >= MAX_SEGMENT_BYTES)
  }

  #sealSoon(): void {
    if (this.#timer !== undefined || this.#isClosed) return
    const sinceLast = performance.now() - this.#lastSealMs
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined
        // While a flush is under way the segment may as well grow.
        if (this.#isFlushing) return this.#sealSoon()
        void this.#sealNow()
      },
      Math.max(QUIET_DELAY_MS, TRICKLE_DELAY_MS - sinceLast),
    )
  }

  async #seal(): Promise<void> {
    const [open, due] = [this.#open, this.#sealDue]
    this.#sealDue = undefined
    if (open !== undefined && open.segment.rows > 0) {
      this.#open = undefined
      this.#lastSealMs = performance.now()
      this.#sealed.push(open.segment)
      // Every row in it was synced: closing has nothing left to write.
      await open.close().catch((error: unknown) => this.#options.report(errorText(error)))
    }
    if (this.#sealed.length > 0) this.#startFlushing()
    due?.resolve()
  }

  #startFlushing(): void {
    if (!this.#isFlushing) void this.#flushAll()
  }

  async #flushAll(): Promise<void> {
    this.#isFlushing = true
    while (this.#sealed.length > 0) {
      await this.#flushFirst()
      this.#attempt.resolve()
      this.#attempt = Promise.withResolvers<void>()
      if (this.#failuresInARow === 0) continue
      if (this.#isClosed) break
      await this.#waitForRetry()
    }
    this.#isFlushing = false
  }

  async #waitForRetry(): Promise<void> {
    this.#retry = Promise.withResolvers<void>()
    const timer = setTimeout(this.#retry.resolve, Math.min(5_000, 100 * 2 ** this.#failuresInARow))
    await this.#retry.promise
    this.#retry = undefined
    clearTimeout(timer)
  }

  async #flushFirst(): Promise<void> {
    const segment = this.#sealed[0]!
    try {
      await this.#flushOrSetAside(segment)
      this.#sealed.shift()
      this.#failuresInARow = 0
    } catch (error) {
      this.#failuresInARow += 1
      this.#flushFailures += 1
      this.#lastFailureMs = performance.now()
      if (this.#failuresInARow === 1)
        this.#options.report(`segment ${segment.id} is not in the store yet: ${errorText(error)}`)
    }
  }

  /** A segment that can never be stored must not hold up the others; its file stays for a person to look at. */
  async #flushOrSetAside(segment: Segment): Promise<void> {
    try {
      await this.#options.flush(segment)
      await rm(segment.path, { force: true })
    } catch (error) {
      if (!isPermanent(error)) throw error
      await rename(segment.path, `${segment.path}.rejected`)
      this.#options.report(
        `segment ${segment.id} was set aside as ${segment.path}.rejected: ${errorText(error)}`,
      )
    }
  }
}

/** Marks an error that no retry can mend: the store understood the segment and refuses it. */
export type PermanentError = Error & { isPermanent: true }

function isPermanent(error: unknown): error is PermanentError {
  return error instanceof Error && (error as Partial<PermanentError>).isPermanent === true
}

function writeError(error: unknown): KnownError {
  if (isDiskFull(error)) return diskFull(error)
  return new KnownError(
    'STORE_UNAVAILABLE',
    `The log can't be written (${errorText(error)}): nothing was stored.`,
    { cause: error },
  )
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 500) : String(error)
}
