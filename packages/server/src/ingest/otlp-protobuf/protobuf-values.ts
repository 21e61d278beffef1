import { emptyAttributes, type Attributes, type AttributeValue, type Scope } from '@playhead/model'
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

/** Reads one KeyValue into the attributes. `count` is the number of attributes so far, including this one. */
export function readAttribute(reader: ProtobufReader, attributes: Attributes, count: number): void {
  checkAttributeCount(count)
  readKeyValue(reader, attributes, 0)
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

function readKeyValue(reader: ProtobufReader, attributes: Attributes, depth: number): void {
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
