import type { RecordedSpan } from '../record/opentelemetry/recorded-span.ts'
import { encodeSpans, type FailedSpan } from './encode-spans.ts'
import type { SpanSanitizer } from '../record/opentelemetry/span-sanitizer.ts'

/**
 * Encoded steps. `stepCount` counts the ended ones; the others are announcements of running steps. `failed` could not be
 * encoded and are in neither.
 */
export type Batch = {
  bytes: Uint8Array
  stepCount: number
  spans: readonly RecordedSpan[]
  failed: readonly FailedSpan[]
}

const MAX_STEPS_PER_BATCH = 512
const MAX_BYTES_PER_BATCH = 8 * 1024 * 1024

/** Steps waiting to be sent. */
export class StepQueue {
  /** The oldest first. */
  readonly #ended: RecordedSpan[] = []
  /** The size of each. */
  readonly #sizes: number[] = []
  #byteCount = 0
  readonly #running = new Set<RecordedSpan>()
  /** Halves of batches that were too large, to be sent first. */
  readonly #parts: (readonly RecordedSpan[])[] = []

  get endedCount(): number {
    if (this.#parts.length === 0) return this.#ended.length
    return this.#ended.length + this.#parts.flat().filter((span) => span.ended).length
  }

  get hasParts(): boolean {
    return this.#parts.length > 0
  }

  /** Roughly how much memory the ended steps take. */
  get byteCount(): number {
    return this.#byteCount
  }

  get isEmpty(): boolean {
    return this.#ended.length === 0 && this.#running.size === 0 && this.#parts.length === 0
  }

  addEnded(span: RecordedSpan, byteCount: number): void {
    this.#ended.push(span)
    this.#sizes.push(byteCount)
    this.#byteCount += byteCount
    if (this.#running.size > 0) this.#running.delete(span)
  }

  addRunning(span: RecordedSpan): void {
    this.#running.add(span)
  }

  /** Takes and encodes as many steps as fit into one request. Undefined if there are none. */
  take(sanitizer: SpanSanitizer): Batch | undefined {
    const part = this.#parts.shift()
    if (part !== undefined) return batchOf(part, sanitizer)
    while (!this.isEmpty) {
      const running = this.#takeRunning()
      const ended = this.#takeEnded(countThatFit(this.#sizes))
      if (running.length + ended.length > 0) return batchOf([...running, ...ended], sanitizer)
    }
    return undefined
  }

  /** Puts back a batch that was too large, as two. Returns false if it holds a single step. */
  putBackInHalves({ spans }: Batch): boolean {
    if (spans.length < 2) return false
    const middle = Math.floor(spans.length / 2)
    this.#parts.unshift(spans.slice(0, middle), spans.slice(middle))
    return true
  }

  #takeRunning(): RecordedSpan[] {
    const taken: RecordedSpan[] = []
    for (const span of this.#running) {
      if (taken.length >= MAX_STEPS_PER_BATCH) break
      this.#running.delete(span)
      if (!span.ended) taken.push(span)
    }
    return taken
  }

  #takeEnded(count: number): RecordedSpan[] {
    for (const size of this.#sizes.splice(0, count)) this.#byteCount -= size
    return this.#ended.splice(0, count)
  }

  /**
   * Discards the oldest steps if there are too many, down to 15/16 of the limit, so that this is rare. Returns how many.
   * The newest are kept, because they tell how sessions ended.
   */
  dropBeyond({ maxSteps, maxBytes }: { maxSteps: number; maxBytes: number }): number {
    if (this.#ended.length <= maxSteps && this.#byteCount <= maxBytes) return 0
    let count = Math.max(0, this.#ended.length - Math.floor(maxSteps * KEPT_SHARE))
    let excess = this.#byteCount - maxBytes * KEPT_SHARE
    for (let index = 0; index < this.#sizes.length && (index < count || excess > 0); index += 1) {
      excess -= this.#sizes[index]!
      count = Math.max(count, index + 1)
    }
    return this.#takeEnded(count).length
  }
}

const KEPT_SHARE = 15 / 16

/** How many of the first steps fit into one request; at least one. */
function countThatFit(sizes: readonly number[]): number {
  let byteCount = 0
  const most = Math.min(sizes.length, MAX_STEPS_PER_BATCH)
  for (let index = 0; index < most; index += 1) {
    byteCount += sizes[index]!
    if (byteCount > MAX_BYTES_PER_BATCH) return Math.max(1, index)
  }
  return most
}

function batchOf(all: readonly RecordedSpan[], sanitizer: SpanSanitizer): Batch {
  const { bytes, failed } = encodeSpans(all, sanitizer)
  const broken = new Set(failed.map(({ span }) => span))
  const spans = broken.size === 0 ? all : all.filter((span) => !broken.has(span))
  return { bytes, stepCount: spans.filter((span) => span.ended).length, spans, failed }
}
