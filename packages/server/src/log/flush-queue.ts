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
  report: (line: string) => void
}

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
  /** Resolves when the current attempt to flush a segment has ended, one way or the other. */
  #attempt = Promise.withResolvers<void>()
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

  /** Resolves when all segments that are queued now are in the store; rejects after more than `failures` failures. */
  async drain(failures: number): Promise<void> {
    this.#retry?.resolve()
    const last = this.segments.at(-1)
    // Does not wait for segments that are queued from here on: under load there would always be one more.
    const isWaiting = () => last !== undefined && this.segments.includes(last) && this.failures === failures
    while (isWaiting()) await this.#attempt.promise
    if (this.failures !== failures) {
      throw new KnownError(
        'STORE_UNAVAILABLE',
        'The store is not accepting rows at the moment. They are safe in the log. Try again.',
      )
    }
  }

  async #flushAll(): Promise<void> {
    this.isFlushing = true
    while (this.segments.length > 0) {
      await this.#flushFirst()
      this.#attempt.resolve()
      this.#attempt = Promise.withResolvers<void>()
      if (this.#failuresInARow === 0) continue
      if (this.#isClosed) break
      await this.#waitForRetry()
    }
    this.isFlushing = false
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
      if (await this.#inserted(segment)) await this.#refresh(segment)
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
