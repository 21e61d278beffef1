import { rename, rm } from 'node:fs/promises'
import { basename } from 'node:path'
import { KnownError } from '../errors/known-error.ts'
import type { DamagedFiles } from './damaged-files.ts'
import { verifySegment, type Segment } from './segment-file.ts'

export type FlushQueueOptions = {
  /** What the rows are, for reports. */
  name: string
  damaged: DamagedFiles
  /** Inserts a segment into the store, whole. Called for one segment at a time, and again after a failure. */
  insert: (segment: Segment) => Promise<void>
  /** Computes what depends on a segment that was inserted, while the next one is. Called in the order of segments. */
  refresh: (segment: Segment) => Promise<void>
  /**
   * As `refresh`, before the segment is `inserted`. Returns false, and does nothing, if that needs what is in the segment. Calls
   * `listed` once memory answers as if it were done; nobody else may hear of the result before the segment is inserted.
   */
  refreshEarly?: (segment: Segment, early: EarlyRefresh) => Promise<boolean>
  report: (line: string) => void
}

export type EarlyRefresh = { inserted: Promise<unknown>; listed: () => void }

/** Marks an error that no retry can fix: the store understood the segment and rejects it. */
export type PermanentError = Error & { isPermanent: true }

const MAX_RETRY_DELAY_MS = 5_000

/** Sealed segments on their way into the store, oldest first. A failed flush is retried until the store accepts it. */
export class FlushQueue {
  readonly #options: FlushQueueOptions
  readonly segments: Segment[] = []
  isFlushing = false
  /** The insert of the second segment, begun while what depends on the first is computed. */
  #next: { segment: Segment; inserted: Promise<boolean> } | undefined
  #isRefreshing = false
  failures = 0
  #isClosed = false
  #failuresInARow = 0
  #lastFailureMs = -Infinity
  /** Resolves when the current attempt to flush a segment has ended, one way or the other, and when its sessions are listed. */
  #progress = Promise.withResolvers<void>()
  /** Resolve it to retry at once; undefined unless the queue waits for its next retry. */
  #retry: PromiseWithResolvers<void> | undefined

  constructor(options: FlushQueueOptions) {
    this.#options = options
  }

  start(): void {
    if (this.#isRefreshing) this.#insertNext()
    if (!this.isFlushing && this.segments.length > 0) void this.#flushAll()
  }

  /** Whether another segment would have to wait before it is inserted. */
  get isInserting(): boolean {
    return this.isFlushing && !(this.#isRefreshing && this.segments.length === 1)
  }

  /** From now on a failure ends the flushing; the segments that are left stay on disk. */
  close(): void {
    this.#isClosed = true
  }

  /** Whether the store did not accept the last segment. */
  get isFailing(): boolean {
    return this.#failuresInARow > 0
  }

  hasFailedWithin(durationMs: number): boolean {
    return this.#failuresInARow > 0 && performance.now() - this.#lastFailureMs < durationMs
  }

  /**
   * Resolves when all segments that are queued now are in the store, or if `isListed` when memory lists their sessions; rejects
   * after more than `failures` failures. Returns whether they are in the store.
   */
  async drain(failures: number, isListed = false): Promise<boolean> {
    this.#retry?.resolve()
    const last = this.segments.at(-1)
    const isStored = () => last === undefined || !this.segments.includes(last)
    const isDone = () => isStored() || (isListed && last!.isListed)
    // Does not wait for segments that are queued from here on: under load there would always be one more.
    while (!isDone() && this.failures === failures) await this.#progress.promise
    if (this.failures !== failures) {
      throw new KnownError(
        'STORE_UNAVAILABLE',
        'The store is not accepting rows at the moment. They are safe in the log. Try again.',
      )
    }
    return isStored()
  }

  async #flushAll(): Promise<void> {
    this.isFlushing = true
    while (this.segments.length > 0) {
      await this.#flushFirst()
      this.#tellProgress()
      if (this.#failuresInARow === 0) continue
      if (this.#isClosed) break
      await this.#waitForRetry()
    }
    this.isFlushing = false
  }

  #tellProgress(): void {
    this.#progress.resolve()
    this.#progress = Promise.withResolvers<void>()
  }

  async #waitForRetry(): Promise<void> {
    this.#retry = Promise.withResolvers<void>()
    const delayMs = Math.min(MAX_RETRY_DELAY_MS, 100 * 2 ** this.#failuresInARow)
    const timer = setTimeout(this.#retry.resolve, delayMs)
    await this.#retry.promise
    this.#retry = undefined
    clearTimeout(timer)
  }

  async #flushFirst(): Promise<void> {
    const segment = this.segments[0]!
    try {
      if (this.#isAlone(segment)) await this.#insertAndRefresh(segment)
      else if (await this.#inserted(segment)) await this.#refresh(segment)
      this.segments.shift()
      this.#failuresInARow = 0
    } catch (error) {
      this.#failuresInARow += 1
      this.failures += 1
      this.#lastFailureMs = performance.now()
      if (this.#failuresInARow === 1)
        this.#options.report(`could not flush segment ${segment.id}, will retry: ${errorText(error)}`)
    }
  }

  #isAlone(segment: Segment): boolean {
    return this.segments.length === 1 && this.#next === undefined && !segment.isDamaged
  }

  /** Both at once: while little arrives, somebody may be waiting for it. */
  async #insertAndRefresh(segment: Segment): Promise<void> {
    const { refreshEarly } = this.#options
    const inserted = this.#insertOrSetAside(segment)
    const listed = () => {
      segment.isListed = true
      this.#tellProgress()
    }
    const refreshed = refreshEarly?.(segment, { inserted, listed })
    refreshed?.catch(() => undefined)
    const isStored = await inserted
    const isRefreshed = await refreshed
    if (!isStored) return
    // What was computed early includes rows of blocks that turned out to be damaged.
    if (isRefreshed === true && !segment.isDamaged) await rm(segment.path, { force: true })
    else await this.#refresh(segment)
  }

  #inserted(segment: Segment): Promise<boolean> {
    const begun = this.#next?.segment === segment ? this.#next.inserted : undefined
    // If it fails, the next attempt is a new one.
    if (begun !== undefined) this.#next = undefined
    return begun ?? this.#insertOrSetAside(segment)
  }

  async #refresh(segment: Segment): Promise<void> {
    this.#isRefreshing = true
    this.#insertNext()
    try {
      await this.#options.refresh(segment)
      await rm(segment.path, { force: true })
    } finally {
      this.#isRefreshing = false
    }
  }

  /** The engine is idle while sessions are computed, and the other way round. */
  #insertNext(): void {
    const segment = this.segments[1]
    if (segment === undefined || this.#next !== undefined || this.#failuresInARow > 0 || this.#isClosed)
      return
    const inserted = this.#insertOrSetAside(segment)
    // Whoever comes to this segment sees the failure.
    inserted.catch(() => undefined)
    this.#next = { segment, inserted }
  }

  /** Returns false for a segment that can never be stored: it must not block the others. Its file stays for a person to look at. */
  async #insertOrSetAside(segment: Segment): Promise<boolean> {
    const { name, damaged, insert } = this.#options
    await verifySegment(segment, name, damaged)
    try {
      await insert(segment)
      return true
    } catch (error) {
      if (!isPermanent(error)) throw error
      await damaged.add(basename(segment.path), (path) => rename(segment.path, path), {
        problem: `the store rejected segment ${segment.id} of the log of ${name}: ${errorText(error)}.`,
        blocks: null,
        rows: segment.rows,
      })
      return false
    }
  }
}

function isPermanent(error: unknown): error is PermanentError {
  return error instanceof Error && (error as Partial<PermanentError>).isPermanent === true
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 500) : String(error)
}
