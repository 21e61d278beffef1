import { MAX_DECODED_HEAP_BYTES, MAX_ITEM_HEAP_BYTES } from './limits.ts'
import { DecodeError } from './rejection.ts'

/** Heap that the rest of a request may use. A few bytes can ask for many objects; strings are bounded by the body. */
export type HeapBudget = { bytesLeft: number; floor: number }

let bytesOfRequest = MAX_DECODED_HEAP_BYTES

export function createHeapBudget(): HeapBudget {
  return { bytesLeft: bytesOfRequest, floor: 0 }
}

/** For a thread with little memory. A request that takes more is not refused: another thread has to read it. */
export function limitHeap(bytes: number): void {
  bytesOfRequest = bytes
}

/** Limits one item to a part of what is left, so that a bad item does not starve the others. */
export function beginItem(heap: HeapBudget): void {
  heap.floor = Math.max(0, heap.bytesLeft - MAX_ITEM_HEAP_BYTES)
}

export function endItem(heap: HeapBudget): void {
  heap.floor = 0
}

export function chargeHeap(heap: HeapBudget, bytes: number): void {
  heap.bytesLeft -= bytes
  if (heap.bytesLeft < heap.floor) refuseHeap(heap)
}

/** What was charged stays charged, because refusing an item takes as much time as decoding it. */
function refuseHeap({ floor }: HeapBudget): never {
  if (bytesOfRequest < MAX_DECODED_HEAP_BYTES) throw new RangeError('the request needs more memory')
  throw new DecodeError(
    floor > 0
      ? `its lists, maps and events take more than ${inMegabytes(MAX_ITEM_HEAP_BYTES)}`
      : `the lists, maps and events of the request take more than ${inMegabytes(MAX_DECODED_HEAP_BYTES)}: send smaller batches`,
  )
}

function inMegabytes(bytes: number): string {
  return `${bytes / 1024 / 1024} MB`
}
