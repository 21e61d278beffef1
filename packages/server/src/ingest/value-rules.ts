import { MAX_ATTRIBUTES, MAX_RESOURCE_BYTES, MAX_VALUE_DEPTH } from './limits.ts'
import { Unreadable } from './rejection.ts'

/** NaN and the infinities measure nothing: undefined. -0 would not survive JSON: 0. */
export function finiteOrAbsent(value: number): number | undefined {
  if (value === 0) return 0
  return Number.isFinite(value) ? value : undefined
}

/** Two's complement in halves of 32 bits. A number where that is exact, else its decimal digits. */
export function int64FromHalves(low: number, high: number): number | string {
  const value = (high | 0) * 2 ** 32 + (low >>> 0)
  if (Number.isSafeInteger(value)) return value
  return BigInt.asIntN(64, (BigInt(high | 0) << 32n) | BigInt(low >>> 0)).toString()
}

export function checkValueDepth(depth: number): void {
  if (depth > MAX_VALUE_DEPTH) {
    throw new Unreadable(`more than ${MAX_VALUE_DEPTH} lists and maps lie inside each other in an attribute`)
  }
}

export function checkAttributeCount(count: number): void {
  if (count > MAX_ATTRIBUTES) throw new Unreadable(`it has more than ${MAX_ATTRIBUTES} attributes`)
}

/** For what lies around items and is stored with each of them. */
export function checkOriginBytes(bytes: number): void {
  if (bytes > MAX_RESOURCE_BYTES) {
    throw new Unreadable(`it has ${bytes} bytes and ${MAX_RESOURCE_BYTES} are allowed`)
  }
}
