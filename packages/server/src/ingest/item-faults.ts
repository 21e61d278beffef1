import type { Attributes, AttributeValue } from '@playhead/model'
import { MAX_ITEM_BYTES, MAX_TIME_NS, MIN_TIME_NS } from './limits.ts'
import { quote } from './rejection.ts'

/** The largest part of an item, so that the sender knows what to shorten. */
export type LargestPart = { what: string; bytes: number }

export function describeOversize(itemBytes: number, largest: LargestPart): string {
  return `it has ${inMegabytes(itemBytes)}; the limit is ${inMegabytes(MAX_ITEM_BYTES)}. Its largest part, ${largest.what}, has ${inMegabytes(largest.bytes)}`
}

export function describeAttribute(key: string): string {
  return `attribute ${quote(key)}`
}

/** Why an item is too large, for formats that do not state sizes; null if it is not. */
export function findSizeFault(attributes: Attributes, others: Record<string, AttributeValue>): string | null {
  const parts = [
    ...Object.entries(attributes).map(([key, value]) => ({
      what: describeAttribute(key),
      bytes: measureValue(value),
    })),
    ...Object.entries(others).map(([what, value]) => ({ what, bytes: measureValue(value) })),
  ]
  let itemBytes = 0
  let largest: LargestPart = { what: '', bytes: 0 }
  for (const part of parts) {
    itemBytes += part.bytes
    if (part.bytes > largest.bytes) largest = part
  }
  return itemBytes > MAX_ITEM_BYTES ? describeOversize(itemBytes, largest) : null
}

/** UTF-8 bytes of strings and keys; 8 for values of fixed size. */
export function measureValue(value: AttributeValue): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (typeof value !== 'object' || value === null) return 8
  let bytes = 0
  for (const [key, inner] of Object.entries(value)) bytes += Buffer.byteLength(key) + measureValue(inner)
  return bytes
}

function inMegabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`
}

/** Why a time cannot be right; null if it can. */
export function findTimeFault(what: string, timeNs: bigint): string | null {
  if (timeNs >= MIN_TIME_NS && timeNs < MAX_TIME_NS) return null
  const year = new Date(Number(timeNs / 1_000_000n)).getUTCFullYear()
  return `${what} ${timeNs} is in the year ${year}; times are nanoseconds since 1970-01-01 UTC`
}
