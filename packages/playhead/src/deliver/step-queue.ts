import type { RecordedSpan } from '../record/opentelemetry/recorded-span.ts'
import { encodeSpans } from './encode-spans.ts'
import type { OutgoingValues } from '../record/opentelemetry/outgoing-values.ts'

/** Steps encoded for the wire. `stepCount` counts those that ended; the others are only said to be running. */
export type Batch = { text: string; stepCount: number; spans: readonly RecordedSpan[] }

const MAX_STEPS_PER_BATCH = 512
const MAX_LENGTH_PER_BATCH = 4 * 1024 * 1024

/** Steps that wait to be sent. */
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

  /** Takes as much as makes one request. */
  take(outgoing: OutgoingValues): Batch | undefined {
    if (this.isEmpty) return undefined
    const running = [...this.#running].filter((span) => !span.ended)
    this.#running.clear()
    const ended = this.#ended.splice(0, countThatFit(this.#ended))
    const spans = [...running, ...ended]
    if (spans.length === 0) return this.take(outgoing)
    return { text: encodeSpans(spans, outgoing), stepCount: ended.length, spans }
  }

  /** Gives the oldest up. Returns how many. */
  drop(count: number): number {
    return this.#ended.splice(0, count).length
  }
}

/** How many of the first spans make a request that is not too large; at least one. */
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

/** The same steps in two requests; undefined when there is only one. */
export function splitBatch({ spans }: Batch, outgoing: OutgoingValues): [Batch, Batch] | undefined {
  if (spans.length < 2) return undefined
  const middle = Math.floor(spans.length / 2)
  return [batchOf(spans.slice(0, middle), outgoing), batchOf(spans.slice(middle), outgoing)]
}

function batchOf(spans: readonly RecordedSpan[], outgoing: OutgoingValues): Batch {
  return { text: encodeSpans(spans, outgoing), stepCount: spans.filter((span) => span.ended).length, spans }
}
