import * as types from 'node:util/types'
import { markTruncated, serializeValue, truncateAtWord } from './serialize-value.ts'

// What the host passes may be anything: a getter may throw, a proxy may be revoked, a name may be a number. Nothing here
// throws, and a bad value costs only its own field.

const MAX_NAME_LENGTH = 1000
const MAX_TEXTS = 1000
const MAX_FIELDS = 10_000

/** A field of an object; undefined if there is none or if reading it throws. */
export function readField(holder: unknown, key: string): unknown {
  if ((typeof holder !== 'object' && typeof holder !== 'function') || holder === null) return undefined
  try {
    return (holder as Record<string, unknown>)[key]
  } catch {
    return undefined
  }
}

/** The fields of an object, each read on its own. */
export function readFields<Field extends string>(
  holder: unknown,
  fields: readonly Field[],
): Record<Field, unknown> {
  return Object.fromEntries(fields.map((field) => [field, readField(holder, field)])) as Record<
    Field,
    unknown
  >
}

/** The enumerable fields of an object, up to a limit. Those that can't be read are undefined. */
export function readAllFields(holder: unknown): Record<string, unknown> {
  let keys: string[] = []
  try {
    keys = Object.keys(Object(holder) as object).slice(0, MAX_FIELDS)
  } catch {
    // A proxy that does not tell its keys has none.
  }
  return readFields(holder, keys)
}

/** A value as text: a number or an object becomes JSON. Undefined for undefined and null. */
export function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return undefined
  const { text } = serializeValue(value, {
    maxLength: MAX_NAME_LENGTH,
    isContentKept: true,
    isSecretKey: () => false,
  })
  return text.startsWith('"') ? (JSON.parse(text) as string) : text
}

/** A name of bounded length. Undefined for undefined, null and empty text. */
export function toName(value: unknown): string | undefined {
  const text = toText(value)
  if (text === undefined || text === '') return undefined
  if (text.length <= MAX_NAME_LENGTH) return text
  return markTruncated(truncateAtWord(text, MAX_NAME_LENGTH), text.length)
}

/** A list of names. One name counts as a list, and a list inside it as further names. */
export function toNames(value: unknown): string[] {
  if (value === undefined || value === null) return []
  const names: string[] = []
  for (const item of itemsOf(value)) {
    const name = toName(item)
    if (name !== undefined && names.length < MAX_TEXTS) names.push(name)
  }
  return names
}

function itemsOf(value: unknown): unknown[] {
  try {
    if (Array.isArray(value)) return (value as unknown[]).slice(0, MAX_TEXTS).flat()
    if (types.isSet(value)) return [...value]
  } catch {
    return []
  }
  return [value]
}

/** Milliseconds since 1970 of a number or a date; undefined for anything else. */
export function toMs(value: unknown): number | undefined {
  const ms = types.isDate(value) ? Date.prototype.getTime.call(value) : value
  return typeof ms === 'number' && Number.isFinite(ms) ? ms : undefined
}
