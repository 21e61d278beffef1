import * as types from 'node:util/types'
import { REDACTED } from '@playhead/model'
import { describeObject, findDataProperty } from './describe-object.ts'
import { isPlainData, type PlainDataLimits } from './plain-data.ts'

export type SerializeOptions = {
  /** Characters of JSON; longer values are truncated and marked. */
  maxLength: number
  /** False keeps keys, numbers, null and booleans, but only the length of strings. */
  isContentKept: boolean
  isSecretKey: (key: string) => boolean
}

/** JSON of any value, and whether something was left out. */
export type Serialized = { text: string; isTruncated: boolean }

const MAX_DEPTH = 12
/** Bounds the time that one call may take. */
const MAX_VALUES = 100_000

/**
 * Writes any value as JSON within limits of size, depth and time. It calls no getters and no proxy traps, marks circular
 * references, and never throws.
 */
export function serializeValue(value: unknown, options: SerializeOptions): Serialized {
  try {
    if (options.isContentKept && isPlainData(value, limitsOf(options)))
      return { text: JSON.stringify(value), isTruncated: false }
    const writer = new ValueWriter(options)
    writer.write(value)
    return { text: writer.text, isTruncated: writer.isTruncated }
  } catch {
    return { text: '"[not readable]"', isTruncated: true }
  }
}

/** Half the limit, because escaping adds characters; the slow path counts exactly. */
function limitsOf({ maxLength, isSecretKey }: SerializeOptions): PlainDataLimits {
  return { maxDepth: MAX_DEPTH, maxLength: maxLength / 2, isSecretKey }
}

class ValueWriter {
  text = ''
  isTruncated = false
  readonly #options: SerializeOptions
  readonly #ancestors: object[] = []
  #valueCount = 0

  constructor(options: SerializeOptions) {
    this.#options = options
  }

  write(value: unknown): void {
    this.#valueCount += 1
    switch (typeof value) {
      case 'string':
        return this.#writeText(value)
      case 'number':
        this.text += Number.isFinite(value) ? String(value) : `"${value}"`
        return
      case 'boolean':
        this.text += value ? 'true' : 'false'
        return
      case 'bigint':
        this.text += `"${value}"`
        return
      case 'undefined':
        this.text += 'null'
        return
      case 'object':
        return value === null ? void (this.text += 'null') : this.#writeObject(value)
      default:
        this.#writeLabel(typeof value === 'symbol' ? String(value) : `[function ${nameOf(value)}]`)
    }
  }

  #writeText(value: string): void {
    if (!this.#options.isContentKept) return this.#writeLabel(`[${value.length} characters]`)
    const room = this.#options.maxLength - this.text.length
    if (value.length <= room) {
      this.text += JSON.stringify(value)
      return
    }
    this.isTruncated = true
    this.#writeLabel(markTruncated(truncateAtWord(value, room), value.length))
  }

  #writeLabel(label: string): void {
    this.text += JSON.stringify(label)
  }

  #writeObject(value: object): void {
    if (this.#ancestors.includes(value)) return this.#writeLabel('[circular]')
    const described = describeObject(value)
    if (described === undefined) this.#writeData(value)
    else if ('label' in described) this.#writeText(described.label)
    else if (typeof described.value === 'object' && described.value !== null) this.#writeData(described.value)
    else this.write(described.value)
  }

  #writeData(value: object): void {
    if (this.#ancestors.length >= MAX_DEPTH) {
      this.isTruncated = true
      return this.#writeLabel('[deeper]')
    }
    this.#ancestors.push(value)
    if (Array.isArray(value)) this.#writeList(value, value.length)
    else if (types.isMap(value)) this.#writeMap(value)
    else if (types.isSet(value))
      this.#writeList(firstOf(valuesOfSet.call(value)), sizeOfSet.call(value) as number)
    else this.#writeRecord(value)
    this.#ancestors.pop()
  }

  /** `items` may hold only the first items of a list of `length`. */
  #writeList(items: readonly unknown[], length: number): void {
    this.text += '['
    for (let index = 0; index < length; index += 1) {
      if (index > 0) this.text += ','
      if (this.#isFull()) {
        this.#writeLabel(`… ${length - index} more`)
        break
      }
      this.write(items[index])
    }
    this.text += ']'
  }

  /** Maps with string keys become objects, others lists of pairs. */
  #writeMap(map: Map<unknown, unknown>): void {
    const entries = firstOf(entriesOfMap.call(map)) as [unknown, unknown][]
    if (!entries.every(([key]) => typeof key === 'string'))
      return this.#writeList(entries, sizeOfMap.call(map) as number)
    this.text += '{'
    for (const [index, [key, value]] of entries.entries())
      if (!this.#writeEntry(key as string, value, index)) break
    this.text += '}'
  }

  #writeRecord(record: object): void {
    this.text += '{'
    let count = 0
    for (const key of Object.keys(record)) {
      const property = Object.getOwnPropertyDescriptor(record, key)
      if (property === undefined) continue
      const value: unknown =
        property.get === undefined && property.set === undefined ? property.value : '[getter]'
      if (value === undefined || typeof value === 'function') continue
      if (!this.#writeEntry(key, value, count)) break
      count += 1
    }
    this.text += '}'
  }

  /** Returns false if there was no room left. */
  #writeEntry(key: string, value: unknown, count: number): boolean {
    if (count > 0) this.text += ','
    if (this.#isFull()) {
      this.text += '"…":"more keys were left out"'
      return false
    }
    this.text += quotedKey(key)
    if (needsRedaction(value) && this.#options.isSecretKey(key)) this.#writeLabel(REDACTED)
    else this.write(value)
    return true
  }

  #isFull(): boolean {
    const isFull = this.text.length >= this.#options.maxLength || this.#valueCount >= MAX_VALUES
    if (isFull) this.isTruncated = true
    return isFull
  }
}

/** Keys come from untrusted input, so the cache is bounded. */
const MAX_CACHED_KEYS = 4096
const quotedKeys = new Map<string, string>()

function quotedKey(key: string): string {
  let quoted = quotedKeys.get(key)
  if (quoted === undefined) {
    quoted = `${JSON.stringify(key)}:`
    if (quotedKeys.size >= MAX_CACHED_KEYS) quotedKeys.clear()
    quotedKeys.set(key, quoted)
  }
  return quoted
}

/* oxlint-disable typescript/unbound-method -- always called with the collection as `this` */
/** The built-in accessors, because a subclass may override them. */
const valuesOfSet = Set.prototype.values
const entriesOfMap = Map.prototype.entries
const sizeOfSet = Object.getOwnPropertyDescriptor(Set.prototype, 'size')!.get!
const sizeOfMap = Object.getOwnPropertyDescriptor(Map.prototype, 'size')!.get!
/* oxlint-enable typescript/unbound-method */

/** As many items as can be written, plus one that shows that there are more. */
function firstOf(values: Iterator<unknown>): unknown[] {
  const first: unknown[] = []
  for (let next = values.next(); next.done !== true && first.length <= MAX_VALUES; next = values.next())
    first.push(next.value)
  return first
}

/** An empty secret may be shown. */
export function needsRedaction(value: unknown): boolean {
  return value !== null && value !== undefined && value !== '' && typeof value !== 'boolean'
}

function nameOf(fn: unknown): string {
  const name = types.isProxy(fn) ? undefined : findDataProperty(fn as object, 'name')
  return typeof name === 'string' && name !== '' ? name : 'anonymous'
}

/** Longer words are not the kind of secret that redaction recognizes by prefix and length. */
const MAX_WORD_LENGTH = 256

/** Truncates a text before the word or number at the limit: redaction would not recognize half a secret. */
export function truncateAtWord(text: string, length: number): string {
  if (text.length <= length) return text
  const kept = text.slice(0, Math.max(0, length))
  const last = kept.slice(-MAX_WORD_LENGTH)
  const whole = last.replace(/\S+$/, '').replace(/[\d\s-]+$/, '')
  return kept.slice(0, kept.length - last.length + whole.length)
}

export function markTruncated(kept: string, length: number): string {
  return `${kept}… [${kept.length} of ${length} characters]`
}
