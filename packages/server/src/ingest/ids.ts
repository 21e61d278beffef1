import { quote, DecodeError } from './rejection.ts'

export const TRACE_ID_BYTES = 16
export const SPAN_ID_BYTES = 8

const onlyZeros = /^0+$/

/** Empty, or all zeros, which OpenTelemetry treats as absent. */
export function isMissingId(id: string): boolean {
  return id === '' || (id.charCodeAt(0) === 48 && onlyZeros.test(id))
}

export function isTraceId(id: string): boolean {
  return id.length === 2 * TRACE_ID_BYTES && !isMissingId(id)
}

export function isSpanId(id: string): boolean {
  return id.length === 2 * SPAN_ID_BYTES && !isMissingId(id)
}

export function refuseId(what: string, given: string, bytes: number): never {
  throw new DecodeError(`its ${what} ${given} is not ${bytes} bytes`)
}

export function showHexId(hex: string): string {
  return `${quote(hex)} (${hex.length / 2} bytes)`
}
