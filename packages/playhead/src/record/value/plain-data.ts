import * as types from 'node:util/types'

/** What `JSON.stringify` may be trusted with. */
export type PlainDataLimits = {
  maxDepth: number
  maxEntries: number
  maxLength: number
  isSecretKey: (key: string) => boolean
}

/**
 * True for what most calls are given: texts, numbers, plain objects and lists, of a usual size, without secrets, getters or
 * anything else that has a mind of its own. Those can be written by `JSON.stringify`, which is faster than we can be.
 */
export function isPlainData(value: unknown, limits: PlainDataLimits): boolean {
  return restOf(value, limits.maxDepth, limits.maxLength, limits) >= 0
}

/** What every value counts for, however short: it bounds how many are looked at. */
const LEAST_LENGTH = 25

/** How much of the length is left after the value; negative when it is too long or not plain. */
function restOf(value: unknown, depth: number, length: number, limits: PlainDataLimits): number {
  switch (typeof value) {
    case 'string':
      return length - value.length - LEAST_LENGTH
    case 'number':
      return Number.isFinite(value) ? length - LEAST_LENGTH : -1
    case 'boolean':
      return length - LEAST_LENGTH
    case 'object':
      if (value === null) return length - LEAST_LENGTH
      if (depth === 0 || types.isProxy(value)) return -1
      return Array.isArray(value)
        ? restOfList(value, depth, length, limits)
        : restOfRecord(value, depth, length, limits)
    default:
      return -1
  }
}

function restOfList(list: unknown[], depth: number, length: number, limits: PlainDataLimits): number {
  if (Object.getPrototypeOf(list) !== Array.prototype || list.length > limits.maxEntries) return -1
  let rest = length - LEAST_LENGTH
  for (let index = 0; index < list.length && rest >= 0; index += 1)
    rest = restOf(list[index], depth - 1, rest, limits)
  return rest
}

function restOfRecord(record: object, depth: number, length: number, limits: PlainDataLimits): number {
  if (Object.getPrototypeOf(record) !== Object.prototype) return -1
  const keys = Object.keys(record)
  if (keys.length > limits.maxEntries) return -1
  let rest = length - LEAST_LENGTH
  for (const key of keys) {
    if (limits.isSecretKey(key)) return -1
    const property = Object.getOwnPropertyDescriptor(record, key)!
    if (property.get !== undefined || property.set !== undefined) return -1
    if (property.value === undefined) continue
    rest = restOf(property.value, depth - 1, rest - key.length, limits)
    if (rest < 0) return -1
  }
  return rest
}
