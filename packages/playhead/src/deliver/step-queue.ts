import type { RecordedSpan } from '../record/opentelemetry/recorded-span.ts'
import { encodeSpans } from './encode-spans.ts'
import type { SpanSanitizer } from '../record/opentelemetry/span-sanitizer.ts'

/** Encoded steps. `stepCount` counts the ended ones; the others are announcements of running steps. */
export type Batch = { text: string; stepCount: number; spans: readonly RecordedSpan[] }

const MAX_STEPS_PER_BATCH = 512
const MAX_LENGTH_PER_BATCH = 4 * 1024 * 1024

/** Steps waiting to be sent. */
export class StepQueue {
  readonly #ended: RecordedSpan[] = []
  readonly #running = new Set<RecordedSpan>()

  get endedCount(): number {
    return this.#ended.length
  }

  get isEmpty(): boolean {
    return this.#ended.length === 0 && this.#running.size === 0
  }

  addEnded(span: RecordedSpan): void {
    this.#ended.push(span)
    if (this.#running.size > 0) this.#running.delete(span)
  }

  addRunning(span: RecordedSpan): void {
    this.#running.add(span)
  }

  /** Takes and encodes as many steps as fit into one request. */
  take(sanitizer: SpanSanitizer): Batch | undefined {
    if (this.isEmpty) return undefined
    const running = [...this.#running].filter((span) => !span.ended)
    this.#running.clear()
    const ended = this.#ended.splice(0, countThatFit(this.#ended))
    const spans = [...running, ...ended]
    if (spans.length === 0) return this.take(sanitizer)
    return { text: encodeSpans(spans, sanitizer), stepCount: ended.length, spans }
  }

  /** Discards the oldest steps and returns how many. */
  drop(count: number): number {
    return this.#ended.splice(0, count).length
  }
}

/** How many of the first spans fit into one request; at least one. */
function countThatFit(spans: readonly RecordedSpan[]): number {
  let length = 0
  const most = Math.min(spans.length, MAX_STEPS_PER_BATCH)
  for (let index = 0; index < most; index += 1) {
    const { attributes } = spans[index]!
    for (const key in attributes) {
      const value = attributes[key]
      if (typeof value === 'string') length += value.length
    }
    if (length > MAX_LENGTH_PER_BATCH) return Math.max(1, index)
  }
  return most
}

/** Splits a batch into two; undefined if it holds a single step. */
export function splitBatch({ spans }: Batch, sanitizer: SpanSanitizer): [Batch, Batch] | undefined {
  if (spans.length < 2) return undefined
  const middle = Math.floor(spans.length / 2)
  return [batchOf(spans.slice(0, middle), sanitizer), batchOf(spans.slice(middle), sanitizer)]
}

function batchOf(spans: readonly RecordedSpan[], sanitizer: SpanSanitizer): Batch {
  return { text: encodeSpans(spans, sanitizer), stepCount: spans.filter((span) => span.ended).length, spans }
}
