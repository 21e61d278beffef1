import * as types from 'node:util/types'
import { REDACTED } from '@playhead/model'
import { describeObject, findDataProperty } from './describe-object.ts'
import { isPlainData, type PlainDataLimits } from './plain-data.ts'

export type SerializeOptions = {
  /** Characters of JSON; what is longer is cut and says so. */
  maxLength: number
  /** False keeps keys, numbers, null and booleans, and of texts their length only. */
  isContentKept: boolean
  isSecretKey: (key: string) => boolean
}

/** JSON of any value, and whether something was left out of it. */
export type Serialized = { text: string; isCut: boolean }

const MAX_DEPTH = 12
const MAX_ENTRIES = 1000
/** Values looked at: a bound on the time one call may take, whatever it was given. */
const MAX_VALUES = 20_000

/**
 * Writes any value as JSON within bounds of size, depth and time. Getters are not called, proxies are not asked, a value
 * inside itself is named; nothing is changed and nothing is thrown.
 */
export function serializeValue(value: unknown, options: SerializeOptions): Serialized {
  try {
    if (options.isContentKept && isPlainData(value, limitsOf(options)))
      return { text: JSON.stringify(value), isCut: false }
    const writer = new ValueWriter(options)
    writer.write(value)
    return { text: writer.text, isCut: writer.isCut }
  } catch {
    return { text: '"[not readable]"', isCut: true }
  }
}

/** Shorter by what escaping may add: the slow way counts exactly. */
function limitsOf({ maxLength, isSecretKey }: SerializeOptions): PlainDataLimits {
  return { maxDepth: MAX_DEPTH, maxEntries: MAX_ENTRIES, maxLength: maxLength / 2, isSecretKey }
}

class ValueWriter {
  text = ''
  isCut = false
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
    this.isCut = true
    const kept = cutAtWord(value, room)
    this.#writeLabel(`${kept}… [${kept.length} of ${value.length} characters]`)
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
      this.isCut = true
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

  /** `items` may be the beginning of a list that is `length` long. */
  #writeList(items: readonly unknown[], length: number): void {
    this.text += '['
    for (let index = 0; index < length; index += 1) {
      if (index > 0) this.text += ','
      if (this.#isFull(index)) {
        this.#writeLabel(`… ${length - index} more`)
        break
      }
      this.write(items[index])
    }
    this.text += ']'
  }

  /** Maps with text for keys look like objects, others like lists of pairs. */
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

  /** False when there was no room left for it. */
  #writeEntry(key: string, value: unknown, count: number): boolean {
    if (count > 0) this.text += ','
    if (this.#isFull(count)) {
      this.text += '"…":"more keys were left out"'
      return false
    }
    this.text += quotedKey(key)
    if (isHidable(value) && this.#options.isSecretKey(key)) this.#writeLabel(REDACTED)
    else this.write(value)
    return true
  }

  #isFull(count: number): boolean {
    const isFull =
      count >= MAX_ENTRIES || this.text.length >= this.#options.maxLength || this.#valueCount >= MAX_VALUES
    if (isFull) this.isCut = true
    return isFull
  }
}

/** Keys come from strangers: the memory of them is bounded. */
const MAX_REMEMBERED = 4096
const quotedKeys = new Map<string, string>()

/** The same few keys are written over and over. */
function quotedKey(key: string): string {
  let quoted = quotedKeys.get(key)
  if (quoted === undefined) {
    quoted = `${JSON.stringify(key)}:`
    if (quotedKeys.size >= MAX_REMEMBERED) quotedKeys.clear()
    quotedKeys.set(key, quoted)
  }
  return quoted
}

/* oxlint-disable typescript/unbound-method -- always called with the collection as `this` */
/** The built-in ways into collections, whatever a subclass makes of them. */
const valuesOfSet = Set.prototype.values
const entriesOfMap = Map.prototype.entries
const sizeOfSet = Object.getOwnPropertyDescriptor(Set.prototype, 'size')!.get!
const sizeOfMap = Object.getOwnPropertyDescriptor(Map.prototype, 'size')!.get!
/* oxlint-enable typescript/unbound-method */

/** As much of a collection as can be written, and one more that shows that there is more. */
function firstOf(values: Iterator<unknown>): unknown[] {
  const taken: unknown[] = []
  for (let next = values.next(); next.done !== true && taken.length <= MAX_ENTRIES; next = values.next())
    taken.push(next.value)
  return taken
}

/** That a secret is missing is no secret. */
export function isHidable(value: unknown): boolean {
  return value !== null && value !== undefined && value !== '' && typeof value !== 'boolean'
}

function nameOf(fn: unknown): string {
  const name = types.isProxy(fn) ? undefined : findDataProperty(fn as object, 'name')
  return typeof name === 'string' && name !== '' ? name : 'anonymous'
}

/** Longer words are no secrets that are known by their beginning and length. */
const MAX_WORD = 256

/** The beginning of a text. The word or number that the cut goes through is left out: half a secret looks like none. */
export function cutAtWord(text: string, length: number): string {
  if (text.length <= length) return text
  const kept = text.slice(0, Math.max(0, length))
  const last = kept.slice(-MAX_WORD)
  const whole = last.replace(/\S+$/, '').replace(/[\d\s-]+$/, '')
  return kept.slice(0, kept.length - last.length + whole.length)
}
