import * as types from 'node:util/types'
import { REDACTED } from '@playhead/model'
import { describeObject, findDataProperty, type Described } from './describe-object.ts'
import { listKeys } from './list-keys.ts'
import { isPlainData, type PlainDataLimits } from './plain-data.ts'
import { TypeNotes } from './type-notes.ts'

export type SerializeOptions = {
  /** Characters of JSON; longer values are truncated and marked. */
  maxLength: number
  /** False keeps keys, numbers, null and booleans, but only the length of strings. */
  isContentKept: boolean
  isSecretKey: (key: string) => boolean
}

/** JSON of any value, and whether something was left out. */
export type Serialized = { text: string; isTruncated: boolean }

/** Also what JSON loses of the value, as JSON; undefined if nothing. */
export type TypedValue = Serialized & { types?: string | undefined }

const MAX_DEPTH = 12
/** Bounds the time that one call may take, in units of about 50 ns: the time to write a number. */
const MAX_WORK = 100_000
const WORK = { value: 1, key: 2, data: 2, described: 10, inspected: 50 }
const MAX_LABEL_LENGTH = 1000
/** Writing a larger one takes time that grows with the square of its length. */
const MAX_BIGINT = 10n ** 1000n

/**
 * Writes any value as JSON within limits of size, depth and time. It calls no getters and no proxy traps, marks circular
 * references, and never throws.
 */
export function serializeValue(value: unknown, options: SerializeOptions): Serialized {
  return writePlain(value, options, false) ?? writeAny(value, options, undefined)
}

/** As `serializeValue`, with what JSON loses. Bytes are kept unless `hasSecret`. */
export function serializeTyped(
  value: unknown,
  options: SerializeOptions,
  hasSecret: (text: string) => boolean,
): TypedValue {
  const plain = writePlain(value, options, true)
  if (plain !== undefined) return plain
  const notes = options.isContentKept ? new TypeNotes(hasSecret) : undefined
  const { text, isTruncated } = writeAny(value, options, notes)
  return { text, isTruncated: isTruncated || notes?.isFull === true, types: notes?.json }
}

/** Undefined if the value needs more care. */
function writePlain(value: unknown, options: SerializeOptions, isExact: boolean): TypedValue | undefined {
  try {
    return options.isContentKept && isPlainData(value, limitsOf(options, isExact))
      ? { text: JSON.stringify(value), isTruncated: false }
      : undefined
  } catch {
    // The element of a list may be a getter that throws.
    return undefined
  }
}

function writeAny(value: unknown, options: SerializeOptions, notes: TypeNotes | undefined): Serialized {
  try {
    const writer = new ValueWriter(options, notes)
    writer.write(value)
    return { text: writer.text, isTruncated: writer.isTruncated }
  } catch {
    return { text: '"[not readable]"', isTruncated: true }
  }
}

/** Half the limit, because escaping adds characters; the slow path counts exactly. */
function limitsOf({ maxLength, isSecretKey }: SerializeOptions, isExact: boolean): PlainDataLimits {
  return { maxDepth: MAX_DEPTH, maxLength: maxLength / 2, isSecretKey, isExact }
}

class ValueWriter {
  text = ''
  isTruncated = false
  readonly #options: SerializeOptions
  readonly #notes: TypeNotes | undefined
  readonly #ancestors: object[] = []
  #work = 0

  constructor(options: SerializeOptions, notes: TypeNotes | undefined) {
    this.#options = options
    this.#notes = notes
  }

  write(value: unknown): void {
    this.#work += WORK.value
    switch (typeof value) {
      case 'string':
        return this.#writeText(value)
      case 'number':
        return this.#writeNumber(value)
      case 'boolean':
        this.text += value ? 'true' : 'false'
        return
      case 'bigint':
        return this.#writeBigInt(value)
      case 'undefined':
        this.#notes?.note('undefined')
        this.text += 'null'
        return
      case 'object':
        return value === null ? void (this.text += 'null') : this.#writeObject(value)
      default:
        this.#notes?.notData(`a ${typeof value}`)
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
    this.text += JSON.stringify(markTruncated(truncateAtWord(value, room), value.length))
  }

  #writeNumber(value: number): void {
    if (!Number.isFinite(value)) this.#notes?.note('number')
    else if (Object.is(value, -0)) this.#notes?.note('-0')
    this.text += Number.isFinite(value) ? String(value) : `"${value}"`
  }

  #writeBigInt(value: bigint): void {
    const isShort = value < MAX_BIGINT && value > -MAX_BIGINT
    if (isShort) this.#notes?.note('bigint')
    else this.isTruncated = true
    this.text += isShort ? `"${value}"` : '"[bigint of more than 1000 digits]"'
  }

  #writeLabel(label: string): void {
    this.text += JSON.stringify(
      label.length > MAX_LABEL_LENGTH ? `${label.slice(0, MAX_LABEL_LENGTH)}…` : label,
    )
  }

  #writeObject(value: object): void {
    if (this.#ancestors.includes(value)) {
      this.#notes?.notData('a circular reference')
      return this.#writeLabel('[circular]')
    }
    const described = tryToDescribe(value)
    if (this.#notes !== undefined) noteType(this.#notes, value, described)
    if (described === undefined) this.#work += WORK.data
    else this.#work += 'label' in described ? WORK.inspected : WORK.described
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
      this.#writeList(this.#firstOf(valuesOfSet.call(value), WORK.value), sizeOfSet.call(value) as number)
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
      this.#notes?.path.push(index)
      this.write(itemOf(items, index))
      this.#notes?.path.pop()
    }
    this.text += ']'
  }

  /** Maps with string keys become objects, others lists of pairs. */
  #writeMap(map: Map<unknown, unknown>): void {
    const entries = this.#firstOf(entriesOfMap.call(map), WORK.value + WORK.key) as [unknown, unknown][]
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
    const { keys, isComplete } = listKeys(record)
    for (const key of keys) {
      this.#work += WORK.value
      const property = Object.getOwnPropertyDescriptor(record, key)
      if (property === undefined) continue
      const value: unknown =
        property.get === undefined && property.set === undefined ? property.value : '[getter]'
      if (property.get !== undefined) this.#notes?.notData('a getter', key)
      if (value === undefined || typeof value === 'function') {
        if (value === undefined) this.#notes?.note('undefined', key)
        else this.#notes?.notData('a function', key)
        continue
      }
      if (!this.#writeEntry(key, value, count)) break
      count += 1
    }
    if (!isComplete) this.#writeMore(count)
    this.text += '}'
  }

  /** Returns false if there was no room left. */
  #writeEntry(key: string, value: unknown, count: number): boolean {
    if (this.#isFull()) {
      this.#writeMore(count)
      return false
    }
    this.#work += WORK.key
    if (count > 0) this.text += ','
    this.text += quotedKey(key)
    if (needsRedaction(value) && this.#options.isSecretKey(key)) this.#writeLabel(REDACTED)
    else {
      this.#notes?.path.push(key)
      this.write(value)
      this.#notes?.path.pop()
    }
    return true
  }

  #writeMore(count: number): void {
    this.isTruncated = true
    this.text += `${count > 0 ? ',' : ''}"…":"more keys were left out"`
  }

  /** As many items as can be written, plus one that shows that there are more. */
  #firstOf(values: Iterator<unknown>, workPerItem: number): unknown[] {
    const most = Math.max(0, MAX_WORK - this.#work) / workPerItem
    const first: unknown[] = []
    for (let next = values.next(); next.done !== true && first.length <= most; next = values.next())
      first.push(next.value)
    return first
  }

  #isFull(): boolean {
    const isFull = this.text.length >= this.#options.maxLength || this.#work >= MAX_WORK
    if (isFull) this.isTruncated = true
    return isFull
  }
}

/** A class of the host may be so odd that its name can't be read. */
function noteType(notes: TypeNotes, value: object, described: Described): void {
  try {
    notes.noteObject(value, described)
  } catch {
    notes.notData('an unreadable object')
  }
}

/** A prototype may be a proxy that throws. */
function tryToDescribe(value: object): Described {
  try {
    return describeObject(value)
  } catch {
    return { label: '[not readable]' }
  }
}

function itemOf(items: readonly unknown[], index: number): unknown {
  try {
    return items[index]
  } catch {
    return '[not readable]'
  }
}

/** Keys come from untrusted input, so the cache is bounded. */
const MAX_CACHED_KEYS = 4096
const quotedKeys = new Map<string, string>()

function quotedKey(key: string): string {
  if (key.length > MAX_LABEL_LENGTH) return `${JSON.stringify(`${key.slice(0, MAX_LABEL_LENGTH)}…`)}:`
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
