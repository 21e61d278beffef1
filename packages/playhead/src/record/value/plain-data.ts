import * as types from 'node:util/types'
import { listKeys } from './list-keys.ts'

export type PlainDataLimits = {
  maxDepth: number
  maxLength: number
  isSecretKey: (key: string) => boolean
  /** True if what JSON loses is not plain: keys without a value, and −0. */
  isExact: boolean
}

/**
 * True for strings, numbers, plain objects and lists of moderate size, without secrets or getters. Most values are like
 * that, and `JSON.stringify` is the fastest way to write them.
 */
export function isPlainData(value: unknown, limits: PlainDataLimits): boolean {
  return remainingAfter(value, limits.maxDepth, limits.maxLength, limits) >= 0
}

/** The length that every value counts for at least, which bounds how many are visited. */
const MIN_LENGTH = 25

/** The length that is left after the value; negative if the value is too long or not plain. */
function remainingAfter(value: unknown, depth: number, length: number, limits: PlainDataLimits): number {
  switch (typeof value) {
    case 'string':
      return length - value.length - MIN_LENGTH
    case 'number':
      return Number.isFinite(value) && !(limits.isExact && Object.is(value, -0)) ? length - MIN_LENGTH : -1
    case 'boolean':
      return length - MIN_LENGTH
    case 'object':
      if (value === null) return length - MIN_LENGTH
      if (depth === 0 || types.isProxy(value)) return -1
      return Array.isArray(value)
        ? remainingAfterList(value, depth, length, limits)
        : remainingAfterRecord(value, depth, length, limits)
    default:
      return -1
  }
}

function remainingAfterList(list: unknown[], depth: number, length: number, limits: PlainDataLimits): number {
  if (Object.getPrototypeOf(list) !== Array.prototype) return -1
  let remaining = length - MIN_LENGTH
  if (list.length * MIN_LENGTH > remaining) return -1
  for (let index = 0; index < list.length && remaining >= 0; index += 1)
    remaining = remainingAfter(list[index], depth - 1, remaining, limits)
  return remaining
}

function remainingAfterRecord(
  record: object,
  depth: number,
  length: number,
  limits: PlainDataLimits,
): number {
  if (Object.getPrototypeOf(record) !== Object.prototype) return -1
  const { keys, isComplete } = listKeys(record)
  let remaining = length - MIN_LENGTH
  if (!isComplete || keys.length * MIN_LENGTH > remaining) return -1
  for (const key of keys) {
    if (limits.isSecretKey(key)) return -1
    const property = Object.getOwnPropertyDescriptor(record, key)!
    if (property.get !== undefined || property.set !== undefined) return -1
    if (property.value === undefined) {
      if (limits.isExact) return -1
      continue
    }
    remaining = remainingAfter(property.value, depth - 1, remaining - key.length, limits)
    if (remaining < 0) return -1
  }
  return remaining
}
