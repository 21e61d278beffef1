import { emptyAttributes, type Attributes, type AttributeValue } from '@playhead/model'
import { chargeHeap, createHeapBudget, type HeapBudget } from '../heap-budget.ts'
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
import { quote, DecodeError } from '../rejection.ts'
import { checkAttributeCount, checkValueDepth, finiteOrUndefined, int64FromHalves } from '../value-rules.ts'

/** State of decoding one request: the heap that is left, and the current key, for errors. */
export type JsonState = { heap: HeapBudget; key: string }

export function createJsonState(): JsonState {
  return { heap: createHeapBudget(), key: '' }
}

/** The attributes of a span, event, link, log record or resource. */
export function readJsonAttributes(value: unknown, state: JsonState): Attributes {
  const attributes = emptyAttributes()
  if (value === undefined) return attributes
  const list = readJsonList(value, 'its list of attributes')
  checkAttributeCount(list.length)
  readKeyValues(list, attributes, { state, depth: 0 })
  return attributes
}

/** Reads an AnyValue. Undefined for NaN and infinities, which are then left out. */
export function readJsonAnyValue(
  value: unknown,
  state: JsonState,
  depth: number,
): AttributeValue | undefined {
  if (value === undefined || value === null) return null
  const any = isJsonObject(value) ? value : refuseValue(value, 'an object', state)
  const text = any.stringValue ?? any.string_value
  if (typeof text === 'string') return text.toWellFormed()
  const integer = any.intValue ?? any.int_value
  if (integer !== undefined) return readIntValue(integer) ?? refuseValue(integer, 'an integer', state)
  const list = any.arrayValue ?? any.array_value
  if (list !== undefined) return readArrayValue(list, state, depth + 1)
  if (any.doubleValue !== undefined) return readDoubleValue(any.doubleValue, state)
  return readRareValue(any, state, depth)
}

function readRareValue(any: JsonObject, state: JsonState, depth: number): AttributeValue | undefined {
  const text = any.stringValue ?? any.string_value
  if (text !== undefined) return refuseValue(text, 'a string', state)
  const truth = any.boolValue ?? any.bool_value
  if (truth !== undefined) return readBoolValue(truth) ?? refuseValue(truth, 'true or false', state)
  if (any.double_value !== undefined) return readDoubleValue(any.double_value, state)
  const map = any.kvlistValue ?? any.kvlist_value
  if (map !== undefined) return readKvlistValue(map, state, depth + 1)
  const bytes = any.bytesValue ?? any.bytes_value
  if (bytes !== undefined) return readBytesValue(bytes) ?? refuseValue(bytes, 'base64', state)
  return null
}

function readKeyValues(
  list: readonly unknown[],
  into: Attributes,
  { state, depth }: { state: JsonState; depth: number },
): void {
  for (const entry of list) {
    chargeHeap(state.heap, ENTRY_HEAP_BYTES)
    const { key, value } = readJsonObject(entry, 'an attribute')
    const name = readJsonText(key, 'the key of an attribute')
    state.key = name
    const read = readJsonAnyValue(value, state, depth)
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

/** JSON numbers above 2^53 lost digits at the sender already; their magnitude is kept. */
function toInteger(value: number): number | string | null {
  if (Number.isSafeInteger(value)) return value === 0 ? 0 : value
  if (Number.isInteger(value)) return BigInt(value).toString()
  return Number.isFinite(value) ? value : null
}

function readDoubleValue(value: unknown, state: JsonState): number | undefined {
  if (value === null) return undefined
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  if (typeof number !== 'number' || (Number.isNaN(number) && value !== 'NaN')) {
    return refuseValue(value, 'a number', state)
  }
  return finiteOrUndefined(number)
}

function readBoolValue(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value
  if (value === 'true') return true
  return value === 'false' ? false : null
}

function readArrayValue(value: unknown, state: JsonState, depth: number): AttributeValue[] {
  checkValueDepth(depth)
  chargeHeap(state.heap, CONTAINER_HEAP_BYTES)
  const read: AttributeValue[] = []
  for (const element of readValues(value, state)) {
    chargeHeap(state.heap, ELEMENT_HEAP_BYTES)
    read.push(readJsonAnyValue(element, state, depth) ?? null)
  }
  return read
}

function readKvlistValue(value: unknown, state: JsonState, depth: number): Attributes {
  checkValueDepth(depth)
  chargeHeap(state.heap, CONTAINER_HEAP_BYTES)
  const map = emptyAttributes()
  readKeyValues(readValues(value, state), map, { state, depth })
  return map
}

function readValues(value: unknown, state: JsonState): readonly unknown[] {
  const values = isJsonObject(value) ? value.values : refuseValue(value, 'an object', state)
  if (Array.isArray(values)) return values
  return values === undefined || values === null ? [] : refuseValue(values, 'a list', state)
}

const base64Text = /^[A-Za-z0-9+/_-]*={0,2}$/

function readBytesValue(value: unknown): string | null {
  if (typeof value !== 'string') return readByteList(value)?.toString('base64') ?? null
  return base64Text.test(value) ? Buffer.from(value, 'base64').toString('base64') : null
}

function refuseValue(value: unknown, expected: string, { key }: JsonState): never {
  throw new DecodeError(`the value of ${quote(key)} is ${describeJson(value)}, not ${expected}`)
}
