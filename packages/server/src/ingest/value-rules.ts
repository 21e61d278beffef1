import { MAX_ATTRIBUTES, MAX_RESOURCE_BYTES, MAX_VALUE_DEPTH } from './limits.ts'
import { DecodeError } from './rejection.ts'

/** Undefined for NaN and infinities, which JSON lacks; 0 for -0, which JSON does not preserve. */
export function finiteOrUndefined(value: number): number | undefined {
  if (value === 0) return 0
  return Number.isFinite(value) ? value : undefined
}

/** Two's complement in 32-bit halves. Returns a number if that is exact, else the decimal digits. */
export function int64FromHalves(low: number, high: number): number | string {
  const value = (high | 0) * 2 ** 32 + (low >>> 0)
  if (Number.isSafeInteger(value)) return value
  return BigInt.asIntN(64, (BigInt(high | 0) << 32n) | BigInt(low >>> 0)).toString()
}

export function checkValueDepth(depth: number): void {
  if (depth > MAX_VALUE_DEPTH) {
    throw new DecodeError(`an attribute nests more than ${MAX_VALUE_DEPTH} lists and maps`)
  }
}

export function checkAttributeCount(count: number): void {
  if (count > MAX_ATTRIBUTES) throw new DecodeError(`it has more than ${MAX_ATTRIBUTES} attributes`)
}

/** For resource and scope, which are stored with each item. */
export function checkEnvelopeBytes(bytes: number): void {
  if (bytes > MAX_RESOURCE_BYTES) {
    throw new DecodeError(`it has ${bytes} bytes; the limit is ${MAX_RESOURCE_BYTES}`)
  }
}
