import { parentPort } from 'node:worker_threads'
import type { PriceOverride, Pricer } from '@playhead/model'
import { createPricer } from '@playhead/model/prices'
import { limitHeap } from '../heap-budget.ts'
import { encodeSpans, type EncodeJob, type EncodeResult } from './encode-spans.ts'

/** A job, with the prices of its project if these are new. */
export type ThreadMessage = EncodeJob & { overrides?: readonly PriceOverride[] }
/** A request that was not read comes back with its body. */
export type ThreadReply = { ready: true } | EncodeResult | { id: number; body: ArrayBuffer[] }

/** Several times what a large request of spans takes. */
const MAX_HEAP_BYTES = 8 * 1024 * 1024
limitHeap(MAX_HEAP_BYTES)

const pricers = new Map<string, Pricer>()

const port = parentPort!

port.on('message', ({ overrides, ...job }: ThreadMessage) => {
  if (overrides !== undefined) pricers.set(job.project, createPricer({ overrides }))
  try {
    const result = encodeSpans(job, pricers.get(job.project)!)
    port.postMessage(result satisfies ThreadReply, [result.memory])
  } catch {
    // Whatever is wrong with it, the main thread meets it too, and tells the sender.
    port.postMessage({ id: job.id, body: job.body } satisfies ThreadReply, job.body)
  }
})
port.postMessage({ ready: true } satisfies ThreadReply)
