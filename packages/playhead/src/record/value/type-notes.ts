import { Buffer } from 'node:buffer'
import * as types from 'node:util/types'
import type { ValueType, ValueTypes } from '@playhead/model'
import { constructorName, type Described } from './describe-object.ts'

/** Notes beyond this number are left out, and the value counts as truncated. */
const MAX_NOTES = 10_000
/** Larger buffers are not kept. */
const MAX_BYTES = 8192
const MAX_ALL_BYTES = 65_536

/** Collects what JSON loses of a value while it is written, so that it can be revived from its JSON. */
export class TypeNotes {
  isFull = false
  /** Where the value that is being written stands. */
  readonly path: (string | number)[] = []
  readonly #types: ValueTypes = {}
  readonly #hasSecret: (text: string) => boolean
  #count = 0
  #bytes = 0

  constructor(hasSecret: (text: string) => boolean) {
    this.#hasSecret = hasSecret
  }

  note(type: ValueType, key?: string): void {
    if (this.#count >= MAX_NOTES) {
      this.isFull = true
      return
    }
    this.#count += 1
    const path = key === undefined ? this.path : [...this.path, key]
    this.#types[path.map((name) => `/${escaped(String(name))}`).join('')] = type
  }

  notData(name: string, key?: string): void {
    this.note({ type: 'not-data', name }, key)
  }

  /** `described` is what is written instead of the object; undefined if its keys are. */
  noteObject(value: object, described: Described): void {
    if (described === undefined) return this.#noteData(value)
    if (types.isDate(value)) return this.note('date')
    if (types.isNativeError(value)) return this.note('error')
    if (types.isRegExp(value)) return this.note('regexp')
    if (types.isAnyArrayBuffer(value) || types.isArrayBufferView(value)) return this.#noteBytes(value)
    if (types.isProxy(value)) return this.notData('a proxy')
    if (value instanceof URL) return this.note('url')
    const name = constructorName(value)
    if ('label' in described) this.notData(`a ${name}`)
    else this.note({ type: 'class', name })
  }

  #noteData(value: object): void {
    if (Array.isArray(value)) return
    if (types.isMap(value)) return this.note(mapType(value))
    if (types.isSet(value)) return this.note('set')
    if (Symbol.asyncIterator in value || Symbol.iterator in value) return this.notData('an iterable object')
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype !== Object.prototype && prototype !== null)
      this.note({ type: 'class', name: constructorName(value) })
  }

  /** Undefined if there is nothing to say. */
  get json(): string | undefined {
    return this.#count === 0 ? undefined : JSON.stringify(this.#types)
  }

  #noteBytes(value: ArrayBufferView | ArrayBufferLike): void {
    const { byteLength } = value
    const bytes = ArrayBuffer.isView(value)
      ? Buffer.from(value.buffer, value.byteOffset, byteLength)
      : Buffer.from(value as ArrayBuffer)
    this.#bytes += byteLength
    if (byteLength > MAX_BYTES || this.#bytes > MAX_ALL_BYTES || this.#hasSecret(bytes.toString('latin1')))
      return this.notData(`a ${constructorName(value)} of ${byteLength} bytes`)
    this.note({ type: 'bytes', class: constructorName(value), base64: bytes.toString('base64') })
  }
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** JSON objects list keys that are numbers first. */
function mapType(map: Map<unknown, unknown>): ValueType {
  const keys: string[] = []
  let hasNumber = false
  for (const key of Map.prototype.keys.call(map)) {
    if (typeof key !== 'string' || keys.length >= MAX_NOTES) return { type: 'map' }
    hasNumber ||= /^\d+$/.test(key)
    keys.push(key)
  }
  return hasNumber ? { type: 'map', keys } : { type: 'map' }
}
