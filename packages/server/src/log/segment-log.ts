import { mkdir, readdir, readFile } from 'node:fs/promises'
import { diskFull, isDiskFull } from '../errors/disk-full.ts'
import { KnownError } from '../errors/known-error.ts'
import { errorText, FlushQueue, type FlushQueueOptions } from './flush-queue.ts'
import type { Columns, LogBlock } from './native-block.ts'
import { PendingRows } from './pending-rows.ts'
import { readColumns, type LoggedValue } from './read-columns.ts'
import { OpenSegment, segmentFrom, verifySegment, type Segment } from './segment-file.ts'
import { SegmentIds } from './segment-ids.ts'

export type SegmentLogOptions<Row> = FlushQueueOptions & {
  directory: string
  columns: Columns<Row>
  /** Where the ids of new segments start; unique among all nodes that write to one store. */
  firstId: bigint
  /** How many rows may wait while the store accepts none, before the log refuses new ones. */
  maxPendingRows?: number
}

export type SegmentLogState = {
  pendingRows: number
  pendingBytes: number
  segments: number
  flushFailures: number
}

const MAX_SEGMENT_ROWS = 50_000
/** The engine inserts a segment whole, and needs two to three times its size for that. */
const MAX_SEGMENT_BYTES = 32 * 1024 * 1024
const MAX_PENDING_ROWS = 2_000_000
const MAX_PENDING_BYTES = 2 * 1024 ** 3
/**
 * While the store is behind, senders wait: not at all up to the first number of rows, and longest at the second. A store that
 * keeps up has one segment on its way and one that grows.
 */
const SLOW_ROWS = [35_000, 60_000] as const
/** From here on, requests are refused. Enough for a burst: three batches of 15,000 small spans. */
const REFUSED_ROWS = 80_000
const MAX_SENDER_DELAY_MS = 80
/** Rows in memory that wait for the write before theirs. Enough for a burst. */
const MAX_BUFFERED_BYTES = 32 * 1024 * 1024
/** A segment is sealed this soon after the first row of a quiet log, and at most this often while rows trickle in. */
const QUIET_DELAY_MS = 10
const TRICKLE_DELAY_MS = 1_000
/** With more rows than this pending, a reader gets data that is a second or two old instead of waiting. */
const MAX_CATCH_UP_ROWS = 80_000
const MAX_CATCH_UP_MS = 10_000
/** Readers wait for the store rather than for more of the log than this. */
const MAX_READ_BYTES = 2 * 1024 * 1024
/** A read retries a failed flush at once, but not sooner than this after the last failure. */
const CATCH_UP_RETRY_MS = 500

/**
 * The write-ahead log. `append` resolves once the rows are on disk; they reach the store a little later. Requests that
 * arrive together share one write and one sync.
 */
export class SegmentLog<Row> {
  readonly #options: SegmentLogOptions<Row>
  readonly #queue: FlushQueue
  readonly #ids: SegmentIds
  #pending: PendingRows<Row>
  /** The buffer of the previous write, emptied for reuse; undefined during a write. */
  #spare: PendingRows<Row> | undefined
  #touched = new Set<string>()
  #bufferedBytes = 0
  #waiting: { resolve: () => void; reject: (error: unknown) => void }[] = []
  #waitingForRoom: (() => void)[] = []
  #open: OpenSegment | undefined
  #isCommitting = false
  #timer: NodeJS.Timeout | undefined
  /** Resolved by the next seal; undefined while nobody asked for one. */
  #sealDue: PromiseWithResolvers<void> | undefined
  #lastSealMs = -Infinity
  #isClosed = false
  /** The log refuses rows beyond this. What piled up while the store was away may be much, but it may not grow. */
  #allowedRows: number

  private constructor(options: SegmentLogOptions<Row>, ids: SegmentIds) {
    this.#options = options
    this.#queue = new FlushQueue(options)
    this.#ids = ids
    this.#pending = new PendingRows(options.columns)
    this.#allowedRows = options.maxPendingRows ?? MAX_PENDING_ROWS
  }

  /** Opens the log in a directory. Flushes the segments that an earlier process left there first. */
  static async open<Row>(options: SegmentLogOptions<Row>): Promise<SegmentLog<Row>> {
    await mkdir(options.directory, { recursive: true })
    const { directory, firstId, name, damaged } = options
    const log = new SegmentLog(options, await SegmentIds.open(directory, { firstId, name, damaged }))
    // The names begin with the id, so this is the order in which they were written.
    for (const file of (await readdir(directory)).sort()) {
      const segment = segmentFrom(directory, file)
      if (segment === undefined) continue
      await verifySegment(segment, name, damaged)
      log.#queue.segments.push(segment)
      log.#ids.skipTo(segment.id + 1n)
    }
    log.#queue.start()
    return log
  }

  /** Resolves once the rows are on disk. `touched` lists their sessions, each as `project` NUL `session`. */
  append(rows: Iterable<Row>, touched: Iterable<string>): Promise<void> {
    return this.#append((pending) => pending.appendAll(rows), touched)
  }

  /** As `append`, for rows that are encoded already. */
  appendBlock(block: LogBlock, touched: Iterable<string>): Promise<void> {
    return this.#append((pending) => pending.add(block), touched)
  }

  #append(add: (pending: PendingRows<Row>) => void, touched: Iterable<string>): Promise<void> {
    if (this.#isClosed) return Promise.reject(new KnownError('STORE_UNAVAILABLE', 'The server is stopping.'))
    const busy = this.#overload()
    if (busy !== undefined) return Promise.reject(busy)
    const rowsBefore = this.#pending.rows
    add(this.#pending)
    if (this.#pending.rows === rowsBefore) return Promise.resolve()
    this.#bufferedBytes = this.#pending.bytes
    for (const session of touched) this.#touched.add(session)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#startCommitting()
    })
  }

  /**
   * True while enough rows wait to be written. Check it right before decoding a request, and wait for `room`: a request
   * takes the least memory before it is decoded.
   */
  get isCrowded(): boolean {
    return this.#bufferedBytes > MAX_BUFFERED_BYTES
  }

  /** How long a sender should wait, so that the store keeps up. */
  get senderDelayMs(): number {
    if (this.#queue.isFailing) return 0
    const [from, to] = SLOW_ROWS
    const share = (this.state().pendingRows - from) / (to - from)
    return Math.min(Math.max(share, 0), 1) * MAX_SENDER_DELAY_MS
  }

  /** The segments whose rows the store may not have. */
  get pendingIds(): bigint[] {
    return this.#segments().map(({ id }) => id)
  }

  /** Whether rows arrive about as fast as the store takes them. */
  get isBusy(): boolean {
    return this.#queue.segments.length > 1 || this.state().pendingRows > SLOW_ROWS[0]
  }

  /** Resolves when a write has started, which leaves room for new rows. */
  room(): Promise<void> {
    return new Promise((resolve) => this.#waitingForRoom.push(resolve))
  }

  /**
   * Flushes like `drain`, for readers: gives up when the store is far behind, slow or failing. With `isListed`, it is enough that
   * memory lists the sessions. Returns whether the store may lack some of what was acknowledged.
   */
  async catchUp({ isListed = false } = {}): Promise<boolean> {
    const { pendingRows } = this.state()
    if (pendingRows > MAX_CATCH_UP_ROWS || this.#queue.hasFailedWithin(CATCH_UP_RETRY_MS))
      return pendingRows > 0
    const deadline = Promise.withResolvers<boolean>()
    // Nobody waits as long for a second time.
    const timer = setTimeout(() => deadline.resolve(true), MAX_CATCH_UP_MS)
    // The queue has already reported why a flush failed.
    const isStored = await Promise.race([this.#drain(isListed).catch(() => false), deadline.promise])
    clearTimeout(timer)
    return !isStored
  }

  /**
   * Reads some columns of the segments that may have rows of these sessions and that the store may lack, each as `project` NUL
   * `session`. Undefined if that is too much, or if one of them was stored meanwhile.
   */
  async readPending<Name extends string>(
    names: readonly Name[],
    sessions: readonly string[],
  ): Promise<Record<Name, LoggedValue>[] | undefined> {
    const segments = this.#segments().filter(
      ({ touched }) => touched === undefined || sessions.some((session) => touched.has(session)),
    )
    if (segments.reduce((sum, { bytes }) => sum + bytes, 0) > MAX_READ_BYTES) return undefined
    const rows: Record<Name, LoggedValue>[] = []
    for (const { path, bytes, marker } of segments) {
      const contents = await readFile(path).catch(() => undefined)
      const read =
        contents && marker !== undefined && readColumns(contents.subarray(0, bytes), { marker, names })
      if (!read) return undefined
      rows.push(...read)
    }
    return rows
  }

  /** Resolves when everything acknowledged so far is in the store; rejects when the store does not accept it. */
  async drain(): Promise<void> {
    await this.#drain(false)
  }

  async #drain(isListed: boolean): Promise<boolean> {
    const { failures } = this.#queue
    await this.#sealNow()
    return this.#queue.drain(failures, isListed)
  }

  state(): SegmentLogState {
    const segments = this.#segments()
    return {
      pendingRows: segments.reduce((sum, segment) => sum + segment.rows, 0),
      pendingBytes: segments.reduce((sum, segment) => sum + segment.bytes, 0),
      segments: segments.length,
      flushFailures: this.#queue.failures,
    }
  }

  #segments(): Segment[] {
    const sealed = this.#queue.segments
    return this.#open === undefined ? sealed : [...sealed, this.#open.segment]
  }

  /** Refuses new rows and flushes the rest. What the store does not accept stays on disk for the next start. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#queue.close()
    clearTimeout(this.#timer)
    await this.drain().catch((error: Error) => this.#options.report(`while stopping: ${error.message}`))
    await this.#open?.close()
  }

  #overload(): KnownError | undefined {
    const { pendingRows, pendingBytes } = this.state()
    const { maxPendingRows = MAX_PENDING_ROWS } = this.#options
    this.#allowedRows = this.#queue.isFailing
      ? maxPendingRows
      : Math.max(REFUSED_ROWS, Math.min(this.#allowedRows, pendingRows + REFUSED_ROWS))
    if (pendingRows < Math.min(this.#allowedRows, maxPendingRows) && pendingBytes < MAX_PENDING_BYTES)
      return undefined
    return new KnownError(
      'SERVER_BUSY',
      `The store is behind: ${pendingRows} rows are waiting for it. The server accepts more when it has caught up.`,
      { retryAfterSeconds: this.#queue.isFailing ? 5 : 1 },
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

  /** The only code that touches the open segment, so that writes and seals never overlap. */
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
    this.#bufferedBytes = 0
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

  async #write(blocks: readonly LogBlock[], touched: ReadonlySet<string>): Promise<void> {
    this.#open ??= await OpenSegment.create(this.#options.directory, await this.#ids.next())
    const { segment } = this.#open
    await this.#open.append(blocks.map((block) => block.withConstant('segment', segment.id)))
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
        // It could not be inserted now anyway: let it grow.
        if (this.#queue.isInserting) return this.#sealSoon()
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
      this.#queue.segments.push(open.segment)
      // Every row in it was synced, so closing has nothing left to write.
      await open.close().catch((error: unknown) => this.#options.report(errorText(error)))
    }
    this.#queue.start()
    due?.resolve()
  }
}

function writeError(error: unknown): KnownError {
  if (isDiskFull(error)) return diskFull(error)
  return new KnownError(
    'STORE_UNAVAILABLE',
    `Could not write to the log (${errorText(error)}). Nothing was stored.`,
    { cause: error },
  )
}
