import { emptyAttributes, type Attributes, type AttributeValue, type Scope } from '@playhead/model'
import type { JsonWriter } from '../../log/json-writer.ts'
import { chargeHeap } from '../heap-budget.ts'
import { refuseId, showHexId } from '../ids.ts'
import { measureValue } from '../item-faults.ts'
import { CONTAINER_HEAP_BYTES, ELEMENT_HEAP_BYTES, ENTRY_HEAP_BYTES } from '../limits.ts'
import type { ProtobufReader } from './protobuf-reader.ts'
import { valueOf } from './repeated-texts.ts'
import {
  checkAttributeCount,
  checkEnvelopeBytes,
  checkValueDepth,
  finiteOrUndefined,
} from '../value-rules.ts'

/** Reads one KeyValue into the attributes. `count` is the number of attributes so far, including this one. */
export function readAttribute(reader: ProtobufReader, attributes: Attributes, count: number): void {
  checkAttributeCount(count)
  readKeyValue(reader, attributes, 0)
}

/** As `readAttribute`, and writes it as JSON too. Returns false if there is no JSON for it. */
export function copyAttribute(
  reader: ProtobufReader,
  attributes: Attributes,
  { count, json }: { count: number; json: JsonWriter },
): boolean {
  checkAttributeCount(count)
  if (copyPlainText(reader, attributes, json)) return true
  const key = readKeyValue(reader, attributes, 0)
  const value = attributes[key]
  if (value === undefined) return false
  json.writeKey(key)
  json.writeValue(value)
  return true
}

/** Copies a KeyValue that is a key and then a text, as most are. Returns false, and reads nothing, if it is anything else. */
function copyPlainText(reader: ProtobufReader, attributes: Attributes, json: JsonWriter): boolean {
  const { position } = reader
  const end = reader.tryEnd(reader.end)
  const key = reader.trySkip(0x0a, end)
  const keyEnd = reader.position
  const isFollowed = key !== -1 && reader.bytes[keyEnd] === 0x12
  if (isFollowed) {
    reader.position = keyEnd + 1
    const text = reader.tryEnd(end) === end ? reader.trySkip(0x0a, end) : -1
    if (text !== -1 && reader.position === end) {
      chargeHeap(reader.heap, ENTRY_HEAP_BYTES)
      const known = reader.keyAt(key, keyEnd)
      const value = valueOf(known, reader.bytes, text, end)
      attributes[known.text] = value
      json.copyKey(key, keyEnd, known.text)
      json.copyText(text, end, value)
      return true
    }
  }
  reader.position = position
  return false
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

/** Returns the key. */
function readKeyValue(reader: ProtobufReader, attributes: Attributes, depth: number): string {
  chargeHeap(reader.heap, ENTRY_HEAP_BYTES)
  let key = ''
  let value: AttributeValue | undefined = null
  reader.enter('KeyValue')
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === 0x0a) key = reader.readKey()
    else if (tag === 0x12) value = readAnyValue(reader, depth)
    else reader.skip(tag)
  }
  reader.leave()
  if (value !== undefined) attributes[key] = value
  return key
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
    if (tag === 0x0a) readKeyValue(reader, map, depth)
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
