import { emptyAttributes, type Attributes, type AttributeValue } from '@playhead/model'
import { chargeHeap, createHeapAllowance, type HeapAllowance } from '../heap-allowance.ts'
import {
  describeJson,
  isJsonObject,
  readByteList,
  readHalves,
  readJsonList,
  readJsonObject,
  readJsonText,
  type JsonObject,
} from './json-fields.ts'
import { CONTAINER_HEAP_BYTES, ELEMENT_HEAP_BYTES, ENTRY_HEAP_BYTES } from '../limits.ts'
import { quote, Unreadable } from '../rejection.ts'
import { checkAttributeCount, checkValueDepth, finiteOrAbsent, int64FromHalves } from '../value-rules.ts'

/** What the readers of one request share: the heap that is left, and the key they are at, for their errors. */
export type JsonReading = { allowance: HeapAllowance; key: string }

export function createJsonReading(): JsonReading {
  return { allowance: createHeapAllowance(), key: '' }
}

/** The attributes of a span, event, link, log record or resource. */
export function readJsonAttributes(value: unknown, reading: JsonReading): Attributes {
  const attributes = emptyAttributes()
  if (value === undefined) return attributes
  const list = readJsonList(value, 'its list of attributes')
  checkAttributeCount(list.length)
  readKeyValues(list, attributes, { reading, depth: 0 })
  return attributes
}

/** An AnyValue. Undefined when it holds a number that is none: what carries it is then left out. */
export function readJsonAnyValue(
  value: unknown,
  reading: JsonReading,
  depth: number,
): AttributeValue | undefined {
  if (value === undefined || value === null) return null
  const any = isJsonObject(value) ? value : refuseValue(value, 'an object', reading)
  const text = any.stringValue ?? any.string_value
  if (typeof text === 'string') return text.toWellFormed()
  const integer = any.intValue ?? any.int_value
  if (integer !== undefined) return readIntValue(integer) ?? refuseValue(integer, 'an integer', reading)
  const list = any.arrayValue ?? any.array_value
  if (list !== undefined) return readArrayValue(list, reading, depth + 1)
  if (any.doubleValue !== undefined) return readDoubleValue(any.doubleValue, reading)
  return readRareValue(any, reading, depth)
}

function readRareValue(any: JsonObject, reading: JsonReading, depth: number): AttributeValue | undefined {
  const text = any.stringValue ?? any.string_value
  if (text !== undefined) return refuseValue(text, 'a text', reading)
  const truth = any.boolValue ?? any.bool_value
  if (truth !== undefined) return readBoolValue(truth) ?? refuseValue(truth, 'true or false', reading)
  if (any.double_value !== undefined) return readDoubleValue(any.double_value, reading)
  const map = any.kvlistValue ?? any.kvlist_value
  if (map !== undefined) return readKvlistValue(map, reading, depth + 1)
  const bytes = any.bytesValue ?? any.bytes_value
  if (bytes !== undefined) return readBytesValue(bytes) ?? refuseValue(bytes, 'base64', reading)
  return null
}

function readKeyValues(
  list: readonly unknown[],
  into: Attributes,
  { reading, depth }: { reading: JsonReading; depth: number },
): void {
  for (const entry of list) {
    chargeHeap(reading.allowance, ENTRY_HEAP_BYTES)
    const { key, value } = readJsonObject(entry, 'an attribute')
    const name = readJsonText(key, 'the key of an attribute')
    reading.key = name
    const read = readJsonAnyValue(value, reading, depth)
    if (read !== undefined) into[name] = read
  }
}

const integerDigits = /^-?\d{1,20}$/

function readIntValue(value: unknown): number | string | null {
  if (typeof value === 'number') return toInteger(value)
  if (typeof value === 'string' && integerDigits.test(value)) {
    const number = Number(value)
    return Number.isSafeInteger(number) ? toInteger(number) : BigInt(value).toString()
  }
  const halves = readHalves(value)
  return halves === null ? null : int64FromHalves(halves.low, halves.high)
}

/** An integer that JSON could not hold exactly has lost its digits with the sender; it stays as large as it was. */
function toInteger(value: number): number | string | null {
  if (Number.isSafeInteger(value)) return value === 0 ? 0 : value
  if (Number.isInteger(value)) return BigInt(value).toString()
  return Number.isFinite(value) ? value : null
}

function readDoubleValue(value: unknown, reading: JsonReading): number | undefined {
  if (value === null) return undefined
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  if (typeof number !== 'number' || (Number.isNaN(number) && value !== 'NaN')) {
    return refuseValue(value, 'a number', reading)
  }
  return finiteOrAbsent(number)
}

function readBoolValue(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value
  if (value === 'true') return true
  return value === 'false' ? false : null
}

function readArrayValue(value: unknown, reading: JsonReading, depth: number): AttributeValue[] {
  checkValueDepth(depth)
  chargeHeap(reading.allowance, CONTAINER_HEAP_BYTES)
  const read: AttributeValue[] = []
  for (const element of readValues(value, reading)) {
    chargeHeap(reading.allowance, ELEMENT_HEAP_BYTES)
    read.push(readJsonAnyValue(element, reading, depth) ?? null)
  }
  return read
}

function readKvlistValue(value: unknown, reading: JsonReading, depth: number): Attributes {
  checkValueDepth(depth)
  chargeHeap(reading.allowance, CONTAINER_HEAP_BYTES)
  const map = emptyAttributes()
  readKeyValues(readValues(value, reading), map, { reading, depth })
  return map
}

function readValues(value: unknown, reading: JsonReading): readonly unknown[] {
  const values = isJsonObject(value) ? value.values : refuseValue(value, 'an object', reading)
  if (Array.isArray(values)) return values
  return values === undefined || values === null ? [] : refuseValue(values, 'a list', reading)
}

const base64Text = /^[A-Za-z0-9+/_-]*={0,2}$/

function readBytesValue(value: unknown): string | null {
  if (typeof value !== 'string') return readByteList(value)?.toString('base64') ?? null
  return base64Text.test(value) ? Buffer.from(value, 'base64').toString('base64') : null
}

function refuseValue(value: unknown, expected: string, { key }: JsonReading): never {
  throw new Unreadable(`the value of ${quote(key)} is ${describeJson(value)}, not ${expected}`)
}
