import { isRecord } from '../json/attribute-value.ts'
import { parseJson } from '../json/json-text.ts'
import type { Step } from '../session/step.ts'

/**
 * What JSON loses of a value, and the place of it as a JSON pointer (RFC 6901); `''` is the value itself. Each place
 * holds what people read: a date its ISO text, a map an object or a list of pairs, bytes only their number.
 */
export type ValueTypes = Record<string, ValueType>

export type ValueType =
  | 'date'
  | 'set'
  | 'bigint'
  | 'url'
  | 'regexp'
  | 'error'
  /** NaN or an infinite number, which is written as text. */
  | 'number'
  | '-0'
  /** Null in a list; in an object the key is left out. */
  | 'undefined'
  /** `keys` are there if an object would not keep their order. */
  | { type: 'map'; keys?: string[] }
  | { type: 'bytes'; class: string; base64: string }
  /** An instance of a class of the host. Its data is recorded, its methods are not. */
  | { type: 'class'; name: string }
  /** Anything that is no data: functions, streams, responses, large buffers. */
  | { type: 'not-data'; name: string }

export const TYPES_KEY = 'playhead.action.types'

const simpleTypes: ReadonlySet<unknown> = new Set(
  'date set bigint url regexp error number -0 undefined'.split(' '),
)

/** The types of an action's result. */
export function recordedTypes({ attributes }: Pick<Step, 'attributes'>): ValueTypes {
  const text = attributes?.[TYPES_KEY]
  return typeof text === 'string' ? parseValueTypes(parseJson(text)) : {}
}

/** Leaves out what is no type: files can be edited by hand. */
function parseValueTypes(given: unknown): ValueTypes {
  if (!isRecord(given)) return {}
  return Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, ValueType] => isValueType(entry[1])),
  )
}

function isValueType(type: unknown): boolean {
  if (!isRecord(type)) return simpleTypes.has(type)
  switch (type.type) {
    case 'map':
      return type.keys === undefined || isTexts(type.keys)
    case 'bytes':
      return typeof type.class === 'string' && typeof type.base64 === 'string'
    case 'class':
    case 'not-data':
      return typeof type.name === 'string'
    default:
      return false
  }
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

/**
 * What of a result can't be served, for people to read; undefined if all can. A function inside a result is no reason:
 * the host may never call it.
 */
export function describeNotData(types: ValueTypes): string | undefined {
  for (const [pointer, type] of Object.entries(types)) {
    if (!isRecord(type) || type.type !== 'not-data') continue
    if (pointer === '') return `its result is ${type.name}, which can’t be recorded`
    if (!type.name.startsWith('a function'))
      return `its result has ${type.name} at ${pathOfPointer(pointer)}, which can’t be recorded`
  }
  return undefined
}

/** `/items/0/price` as `items[0].price`. */
export function pathOfPointer(pointer: string): string {
  const keys = keysOfPointer(pointer).map((key) => (/^\d+$/.test(key) ? `[${key}]` : `.${key}`))
  return keys.join('').replace(/^\./, '')
}

export function keysOfPointer(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
}
