import { refuseId } from '../ids.ts'
import { quote, DecodeError } from '../rejection.ts'

/** An untrusted object from JSON.parse. */
export type JsonObject = { readonly [field: string]: unknown }

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Describes a value briefly: its JSON may be very long. */
export function describeJson(value: unknown): string {
  if (typeof value === 'string') return `the string ${quote(value)}`
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  return String(value)
}

/** Protobuf's JSON has null for absent fields. */
export function readJsonList(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value
  throw new DecodeError(`${what} is ${describeJson(value)}, not a list`)
}

export function readJsonObject(value: unknown, what: string): JsonObject {
  if (isJsonObject(value)) return value
  throw new DecodeError(`${what} is ${describeJson(value)}, not an object`)
}

/** Lone surrogates become U+FFFD, as in protobuf. */
export function readJsonText(value: unknown, what: string): string {
  if (typeof value === 'string') return value.toWellFormed()
  if (value === undefined || value === null) return ''
  throw new DecodeError(`${what} is ${describeJson(value)}, not a string`)
}

const nanoseconds = /^\d{1,20}$/

/** Nanoseconds as digits, as a number or as `{low, high}`; 0 if absent. */
export function readJsonTime(value: unknown, what: string): bigint {
  if (typeof value === 'string' && nanoseconds.test(value)) return BigInt(value)
  if (value === undefined || value === null || value === '') return 0n
  if (typeof value === 'number' && value >= 0 && value < 2 ** 64) return BigInt(Math.trunc(value))
  const halves = readHalves(value)
  if (halves !== null) return (BigInt(halves.high >>> 0) << 32n) | BigInt(halves.low >>> 0)
  throw new DecodeError(`${what} is ${describeJson(value)}, not nanoseconds since 1970-01-01 UTC`)
}

/** The halves of a 64-bit integer, as `long` writes them. */
export function readHalves(value: unknown): { low: number; high: number } | null {
  if (!isJsonObject(value)) return null
  const { low, high } = value
  return typeof low === 'number' && typeof high === 'number' ? { low, high } : null
}

/** Maps the names of an enum to their numbers, with and without protobuf's prefix. */
export function enumNames(prefix: string, names: readonly string[]): ReadonlyMap<string, number> {
  return new Map(
    names.flatMap(
      (name, number) =>
        [
          [name, number],
          [`${prefix}${name}`, number],
        ] as const,
    ),
  )
}

/** Reads 3, "3", "SPAN_KIND_CLIENT" or "CLIENT". Unknown values are 0, which means unspecified. */
export function readJsonEnum(value: unknown, names: ReadonlyMap<string, number>): number {
  if (typeof value === 'number') return Number.isInteger(value) && value > 0 ? value : 0
  if (typeof value !== 'string') return 0
  return names.get(value.toUpperCase()) ?? readJsonEnum(Number(value), names)
}

/** Returns an id in hex; empty if absent. */
export function readJsonId(value: unknown, what: string, bytes: number): string {
  return parseJsonId(value, bytes) ?? refuseId(what, describeId(value), bytes)
}

function describeId(value: unknown): string {
  return typeof value === 'string' ? quote(value) : `(${describeJson(value)})`
}

const hexDigits = /^[0-9a-f]+$/i
const base64Digits = /^[A-Za-z0-9+/_-]+={0,2}$/

/** Accepts hex, base64 or a list of bytes, and returns hex. Null if the length is wrong. */
export function parseJsonId(value: unknown, bytes: number): string | null {
  if (typeof value === 'string') {
    if (value.length === 0) return ''
    if (value.length === 2 * bytes && hexDigits.test(value)) return value.toLowerCase()
    if (value.length > 2 * bytes || !base64Digits.test(value)) return null
    return toIdHex(Buffer.from(value, 'base64'), bytes)
  }
  if (value === undefined || value === null) return ''
  const list = readByteList(value)
  if (list === null) return null
  return list.length === 0 ? '' : toIdHex(list, bytes)
}

function toIdHex(id: Buffer, bytes: number): string | null {
  return id.length === bytes ? id.toString('hex') : null
}

/** Reads bytes from the JSON of an array, a typed array (`{"0":1,"1":2}`) or a Buffer (`{"type":"Buffer","data":[1,2]}`). */
export function readByteList(value: unknown): Buffer | null {
  if (isJsonObject(value)) return readByteList(value.type === 'Buffer' ? value.data : Object.values(value))
  if (!Array.isArray(value)) return null
  return value.every((byte) => Number.isInteger(byte) && byte >= 0 && byte < 256)
    ? Buffer.from(value as number[])
    : null
}
