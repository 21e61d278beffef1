import { emptyAttributes, type Attributes, type AttributeValue, type Scope } from '@playhead/model'
import type { JsonText } from '../../log/json-text.ts'
import { chargeHeap } from '../heap-budget.ts'
import { refuseId, showHexId } from '../ids.ts'
import { measureValue } from '../item-faults.ts'
import { CONTAINER_HEAP_BYTES, ELEMENT_HEAP_BYTES, ENTRY_HEAP_BYTES } from '../limits.ts'
import type { ProtobufReader } from './protobuf-reader.ts'
import {
  checkAttributeCount,
  checkEnvelopeBytes,
  checkValueDepth,
  finiteOrUndefined,
} from '../value-rules.ts'

/**
 * Reads one KeyValue into the attributes, and writes it as JSON where that is asked for. `count` is the number of attributes
 * so far, including this one.
 */
export function readAttribute(
  reader: ProtobufReader,
  attributes: Attributes,
  count: number,
  json?: JsonText,
): void {
  checkAttributeCount(count)
  readKeyValue(reader, attributes, 0, json)
}

/** Reads an AnyValue. Undefined for NaN and infinities, which are then left out. */
export function readAnyValue(reader: ProtobufReader, depth: number): AttributeValue | undefined {
  let value: AttributeValue | undefined = null
  reader.enter('AnyValue')
  while (reader.hasMore()) {
    const tag = reader.readTag()
    switch (tag) {
      case 0x0a:
        value = reader.readString()
        break
      case 0x10:
        value = reader.readVarint() !== 0
        break
      case 0x18:
        value = reader.readInt64()
        break
      case 0x21:
        value = finiteOrUndefined(reader.readDouble())
        break
      case 0x2a:
        value = readList(reader, depth + 1)
        break
      case 0x32:
        value = readMap(reader, depth + 1)
        break
      case 0x3a:
        value = reader.readBase64()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.leave()
  return value
}

export function readResource(reader: ProtobufReader, resource: Attributes): void {
  let attributeCount = 0
  reader.enter('Resource')
  checkEnvelopeBytes(reader.end - reader.position)
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === 0x0a) readAttribute(reader, resource, ++attributeCount)
    else reader.skip(tag)
  }
  // Protobuf allows a message to arrive in several parts.
  checkEnvelopeBytes(measureValue(resource))
  reader.leave()
}

export function readScope(reader: ProtobufReader, scope: Scope): void {
  reader.enter('InstrumentationScope')
  checkEnvelopeBytes(reader.end - reader.position)
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === 0x0a) scope.name = reader.readKey()
    else if (tag === 0x12) scope.version = reader.readKey()
    else reader.skip(tag)
  }
  reader.leave()
}

function readKeyValue(
  reader: ProtobufReader,
  attributes: Attributes,
  depth: number,
  json: JsonText | undefined,
): void {
  chargeHeap(reader.heap, ENTRY_HEAP_BYTES)
  let key = ''
  let value: AttributeValue | undefined = null
  let [fields, copied] = [0, 0]
  reader.enter('KeyValue')
  while (reader.hasMore()) {
    const tag = reader.readTag()
    fields += 1
    if (json !== undefined && copied === 0 && tag === 0x0a) {
      key = reader.copyKey(json)
      copied = 1
    } else if (json !== undefined && copied === 1 && tag === 0x12) {
      value = copyAnyValue(reader, json)
      copied = 2
    } else if (tag === 0x0a) key = reader.readKey()
    else if (tag === 0x12) value = readAnyValue(reader, depth)
    else reader.skip(tag)
  }
  reader.leave()
  // Every sender writes one key and then one value, but others would be right too.
  const isCopied = fields === 2 && copied === 2 && value !== undefined && attributes[key] === undefined
  if (!isCopied) json?.giveUp()
  if (value !== undefined) attributes[key] = value
}

/** As `readAnyValue`, and writes the value. */
function copyAnyValue(reader: ProtobufReader, json: JsonText): AttributeValue | undefined {
  const start = reader.position
  reader.enter('AnyValue')
  if (reader.hasMore() && reader.readTag() === 0x0a) {
    const text = reader.copyString(json)
    if (!reader.hasMore()) {
      reader.leave()
      return text
    }
    json.giveUp()
  }
  reader.leave()
  reader.position = start
  const value = readAnyValue(reader, 0)
  if (value !== undefined) json.writeValue(value)
  return value
}

function readList(reader: ProtobufReader, depth: number): AttributeValue[] {
  checkValueDepth(depth)
  chargeHeap(reader.heap, CONTAINER_HEAP_BYTES)
  const list: AttributeValue[] = []
  reader.enter('ArrayValue')
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === 0x0a) {
      chargeHeap(reader.heap, ELEMENT_HEAP_BYTES)
      list.push(readAnyValue(reader, depth) ?? null)
    } else reader.skip(tag)
  }
  reader.leave()
  return list
}

function readMap(reader: ProtobufReader, depth: number): Attributes {
  checkValueDepth(depth)
  chargeHeap(reader.heap, CONTAINER_HEAP_BYTES)
  const map = emptyAttributes()
  reader.enter('KeyValueList')
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === 0x0a) readKeyValue(reader, map, depth, undefined)
    else reader.skip(tag)
  }
  reader.leave()
  return map
}

/** Returns an id in hex; empty if absent. */
export function readId(reader: ProtobufReader, what: string, bytes: number): string {
  const id = reader.readHex()
  if (id.length !== 0 && id.length !== 2 * bytes) refuseId(what, showHexId(id), bytes)
  return id
}
