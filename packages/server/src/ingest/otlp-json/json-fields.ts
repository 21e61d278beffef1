import { refuseId } from '../ids.ts'
import { quote, Unreadable } from '../rejection.ts'

/** What JSON.parse made of a stranger's object. Only read by names that we know. */
export type JsonObject = { readonly [field: string]: unknown }

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A value in a few words. Never its JSON, which may be endless. */
export function describeJson(value: unknown): string {
  if (typeof value === 'string') return `the text ${quote(value)}`
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  return String(value)
}

/** Protobuf's JSON has null for what was not sent. */
export function readJsonList(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value
  throw new Unreadable(`${what} is ${describeJson(value)}, not a list`)
}

export function readJsonObject(value: unknown, what: string): JsonObject {
  if (isJsonObject(value)) return value
  throw new Unreadable(`${what} is ${describeJson(value)}, not an object`)
}

/** Half of a surrogate pair is no text: it becomes U+FFFD, as it would in protobuf. */
export function readJsonText(value: unknown, what: string): string {
  if (typeof value === 'string') return value.toWellFormed()
  if (value === undefined || value === null) return ''
  throw new Unreadable(`${what} is ${describeJson(value)}, not a text`)
}

const nanoseconds = /^\d{1,20}$/

/** Nanoseconds as digits, as a number or as `{low, high}`; 0 when they were not sent. */
export function readJsonTime(value: unknown, what: string): bigint {
  if (typeof value === 'string' && nanoseconds.test(value)) return BigInt(value)
  if (value === undefined || value === null || value === '') return 0n
  if (typeof value === 'number' && value >= 0 && value < 2 ** 64) return BigInt(Math.trunc(value))
  const halves = readHalves(value)
  if (halves !== null) return (BigInt(halves.high >>> 0) << 32n) | BigInt(halves.low >>> 0)
  throw new Unreadable(`${what} is ${describeJson(value)}, not nanoseconds since 1970-01-01 UTC`)
}

/** The halves of a 64-bit integer, as `long` writes them. */
export function readHalves(value: unknown): { low: number; high: number } | null {
  if (!isJsonObject(value)) return null
  const { low, high } = value
  return typeof low === 'number' && typeof high === 'number' ? { low, high } : null
}

/** The names of an enum's numbers, with and without the prefix that protobuf gives them. */
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

/** A number as itself or as its name: 3, "3", "SPAN_KIND_CLIENT", "CLIENT". Unknown ones are 0, the unspecified one. */
export function readJsonEnum(value: unknown, names: ReadonlyMap<string, number>): number {
  if (typeof value === 'number') return Number.isInteger(value) && value > 0 ? value : 0
  if (typeof value !== 'string') return 0
  return names.get(value.toUpperCase()) ?? readJsonEnum(Number(value), names)
}

/** An id in hex; empty when none was sent. */
export function readJsonId(value: unknown, what: string, bytes: number): string {
  return parseJsonId(value, bytes) ?? refuseId(what, describeId(value), bytes)
}

function describeId(value: unknown): string {
  return typeof value === 'string' ? quote(value) : `(${describeJson(value)})`
}

const hexDigits = /^[0-9a-f]+$/i
const base64Digits = /^[A-Za-z0-9+/_-]+={0,2}$/

/** An id in hex, given as hex, base64 or a list of bytes. Null when it has another length. */
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

/** Bytes as JSON writes arrays, typed arrays (`{"0":1,"1":2}`) and Buffers (`{"type":"Buffer","data":[1,2]}`). */
export function readByteList(value: unknown): Buffer | null {
  if (isJsonObject(value)) return readByteList(value.type === 'Buffer' ? value.data : Object.values(value))
  if (!Array.isArray(value)) return null
  return value.every((byte) => Number.isInteger(byte) && byte >= 0 && byte < 256)
    ? Buffer.from(value as number[])
    : null
}
