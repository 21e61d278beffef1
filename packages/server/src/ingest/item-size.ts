import type { Attributes, AttributeValue } from '@playhead/model'
import { MAX_ITEM_BYTES } from './limits.ts'
import { quote } from './rejection.ts'

/** The biggest thing in an item, so that whoever sent it knows what to cut. */
export type LargestPart = { what: string; bytes: number }

export function describeOversize(itemBytes: number, largest: LargestPart): string {
  return `it has ${inMegabytes(itemBytes)} and ${inMegabytes(MAX_ITEM_BYTES)} are allowed; its largest part, ${largest.what}, has ${inMegabytes(largest.bytes)}`
}

export function describeAttribute(key: string): string {
  return `attribute ${quote(key)}`
}

/** Why an item is too big, where the format does not state sizes; null when it is not. */
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

/** UTF-8 bytes of texts and keys; 8 for what is of fixed size. */
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
