import { MAX_DECODED_HEAP_BYTES, MAX_ITEM_HEAP_BYTES } from './limits.ts'
import { Unreadable } from './rejection.ts'

/** Heap that the rest of a request may still take. Few bytes can ask for many objects; text is bounded by the body. */
export type HeapAllowance = { bytesLeft: number; floor: number }

export function createHeapAllowance(): HeapAllowance {
  return { bytesLeft: MAX_DECODED_HEAP_BYTES, floor: 0 }
}

/** One item may take a part of what is left, so that a bad one does not take it from the others. */
export function beginItem(allowance: HeapAllowance): void {
  allowance.floor = Math.max(0, allowance.bytesLeft - MAX_ITEM_HEAP_BYTES)
}

export function endItem(allowance: HeapAllowance): void {
  allowance.floor = 0
}

export function chargeHeap(allowance: HeapAllowance, bytes: number): void {
  allowance.bytesLeft -= bytes
  if (allowance.bytesLeft < allowance.floor) refuseHeap(allowance)
}

/** What was taken stays taken: refusing costs the same time as reading. */
function refuseHeap({ floor }: HeapAllowance): never {
  throw new Unreadable(
    floor > 0
      ? `its lists, maps and events need more than ${inMegabytes(MAX_ITEM_HEAP_BYTES)}`
      : `the lists, maps and events of the request need more than ${inMegabytes(MAX_DECODED_HEAP_BYTES)}: send smaller batches`,
  )
}

function inMegabytes(bytes: number): string {
  return `${bytes / 1024 / 1024} MB`
}
