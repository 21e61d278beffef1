import { Buffer } from 'node:buffer'
import {
  textOf,
  isRecord,
  keysOfPointer,
  pathOfPointer,
  type ValueType,
  type ValueTypes,
} from '@playhead/model'
import { reviveError } from './revive-error.ts'

/**
 * Restores a value from its JSON and what JSON lost of it. `value` is changed. `onUse` hears of a function inside it
 * that the host calls, and says what to throw.
 */
export function reviveValue(value: unknown, types: ValueTypes, onUse: (path: string) => Error): unknown {
  const root = { value }
  const notes = Object.entries(types).map(([pointer, type]) => ({
    pointer,
    type,
    keys: ['value', ...keysOfPointer(pointer)],
  }))
  // What is inside a map is found by its keys, so the map comes after it.
  for (const { keys, type, pointer } of notes.toSorted((one, other) => other.keys.length - one.keys.length)) {
    const holder = holderOf(root, keys)
    const key = keys.at(-1)!
    if (holder === undefined) continue
    const revived = revive(type, Object.hasOwn(holder, key) ? holder[key] : undefined, () =>
      onUse(pathOfPointer(pointer)),
    )
    Object.defineProperty(holder, key, {
      value: revived,
      configurable: true,
      enumerable: true,
      writable: true,
    })
  }
  return root.value
}

/** The object that holds the last of the keys; undefined if the value was edited since. */
function holderOf(root: object, keys: readonly string[]): Record<string, unknown> | undefined {
  let holder: unknown = root
  for (const key of keys.slice(0, -1)) {
    if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, key)) return undefined
    holder = (holder as Record<string, unknown>)[key]
  }
  return typeof holder === 'object' && holder !== null ? (holder as Record<string, unknown>) : undefined
}

/** Text that was redacted or edited may be none that can be revived; then it stays what it is. */
function revive(type: ValueType, raw: unknown, onUse: () => Error): unknown {
  try {
    return typeof type === 'string' ? reviveSimple(type, raw) : reviveComplex(type, raw, onUse)
  } catch {
    return raw
  }
}

function reviveSimple(type: Extract<ValueType, string>, raw: unknown): unknown {
  const text = textOf(raw)
  switch (type) {
    case 'undefined':
      return undefined
    case '-0':
      return -0
    case 'number':
      return Number(raw)
    case 'date':
      return new Date(raw === null ? Number.NaN : text)
    case 'bigint':
      return BigInt(text)
    case 'url':
      return new URL(text)
    case 'regexp':
      return reviveRegExp(text)
    case 'set':
      return Array.isArray(raw) ? new Set(raw) : raw
    case 'error':
      return isRecord(raw) ? reviveError({ ...raw, type: raw.name, fields: { code: raw.code } }) : raw
  }
}

function reviveComplex(type: Exclude<ValueType, string>, raw: unknown, onUse: () => Error): unknown {
  switch (type.type) {
    case 'map':
      return reviveMap(raw, type.keys)
    case 'bytes':
      return reviveBytes(type)
    case 'class':
      return raw
    case 'not-data':
      if (raw !== undefined) return raw
      return () => {
        throw onUse()
      }
  }
}

function reviveRegExp(text: string): RegExp {
  const end = text.lastIndexOf('/')
  return new RegExp(text.slice(1, end), text.slice(end + 1))
}

function reviveMap(raw: unknown, keys: string[] | undefined): unknown {
  if (Array.isArray(raw)) return new Map(raw as [unknown, unknown][])
  if (!isRecord(raw)) return raw
  return new Map((keys ?? Object.keys(raw)).map((key) => [key, raw[key]]))
}

const byteClasses: Record<string, new (buffer: ArrayBuffer) => unknown> = {
  Uint8Array,
  Uint8ClampedArray,
  Int8Array,
  Uint16Array,
  Int16Array,
  Uint32Array,
  Int32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
  DataView,
}

function reviveBytes({ class: name, base64 }: { class: string; base64: string }): unknown {
  const bytes = Buffer.from(base64, 'base64')
  if (name === 'Buffer') return bytes
  const { buffer } = new Uint8Array(bytes)
  if (name === 'ArrayBuffer') return buffer
  return new (byteClasses[name] ?? Uint8Array)(buffer)
}
