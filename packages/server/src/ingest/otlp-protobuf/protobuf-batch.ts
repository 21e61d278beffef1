import { emptyAttributes, type Attributes, type Scope } from '@playhead/model'
import { beginItem, chargeHeap, endItem } from '../heap-budget.ts'
import { describeAttribute, describeOversize, type LargestPart } from '../item-faults.ts'
import { CONTAINER_HEAP_BYTES, MAX_ITEM_BYTES } from '../limits.ts'
import { ProtobufReader } from './protobuf-reader.ts'
import { readResource, readScope } from './protobuf-values.ts'
import {
  addRejection,
  decodeOrRefuse,
  describeItem,
  DecodeError,
  type ItemIdentity,
  type ItemNoun,
  type Batch,
} from '../rejection.ts'

/** How spans or log records are decoded. The messages around them have the same fields. */
export type ProtobufItems<Item> = {
  noun: ItemNoun
  messages: { request: string; byResource: string; byScope: string; item: string }
  /** Tags of the item's id and name, and of the fields that can be large. */
  tags: { id: number; name: number; attribute: number; body?: number }
  /** Reads the fields of an item that was entered. */
  read: (reader: ProtobufReader, resource: Attributes, scope: Scope) => Item
  /** Fills in absent fields, or returns why the item cannot be stored. */
  normalize: (item: Item) => string | null
}

type Decoding<Item> = Batch<Item> & { kind: ProtobufItems<Item>; reader: ProtobufReader; seen: number }

/** The resource and scope around items. A fault in them rejects every item inside. */
type Envelope = { resource: Attributes; scope: Scope; fault: string | null }

export function decodeProtobufBatch<Item>(body: Buffer, kind: ProtobufItems<Item>): Batch<Item> {
  const reader = new ProtobufReader(body, kind.messages.request)
  const decoding: Decoding<Item> = { kind, reader, items: [], rejected: [], seen: 0 }
  decodeOrRefuse('protobuf', () => {
    while (reader.hasMore()) {
      const tag = reader.readTag()
      if (tag === 0x0a) readResourceItems(decoding)
      else reader.skip(tag)
    }
  })
  return { items: decoding.items, rejected: decoding.rejected }
}

function readResourceItems<Item>(decoding: Decoding<Item>): void {
  const { reader, kind } = decoding
  chargeHeap(reader.heap, CONTAINER_HEAP_BYTES)
  reader.enter(kind.messages.byResource)
  const resource = emptyAttributes()
  const fault = readAhead(reader, 'resource', () => readResource(reader, resource))
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === 0x12) readScopeItems(decoding, resource, fault)
    else reader.skip(tag)
  }
  reader.leave()
}

function readScopeItems<Item>(decoding: Decoding<Item>, resource: Attributes, fault: string | null): void {
  const { reader, kind } = decoding
  chargeHeap(reader.heap, CONTAINER_HEAP_BYTES)
  reader.enter(kind.messages.byScope)
  const scope: Scope = { name: '', version: '' }
  const scopeFault = readAhead(reader, 'scope', () => readScope(reader, scope))
  const envelope: Envelope = { resource, scope, fault: fault ?? scopeFault }
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === 0x12) readItem(decoding, envelope)
    else reader.skip(tag)
  }
  reader.leave()
}

/** Reads field 1 of a message before the others, because protobuf allows it to come last. */
function readAhead(reader: ProtobufReader, what: string, read: () => void): string | null {
  const start = reader.position
  let fault: string | null = null
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === 0x0a) fault = readOrSkip(reader, read) ?? fault
    else reader.skip(tag)
  }
  reader.position = start
  return fault === null ? null : `its ${what} is invalid: ${fault}`
}

function readItem<Item>(decoding: Decoding<Item>, envelope: Envelope): void {
  const { reader, kind } = decoding
  const start = reader.position
  const index = decoding.seen++
  beginItem(reader.heap)
  const fault = readOrSkip(reader, () => {
    reader.enter(kind.messages.item)
    if (envelope.fault !== null) throw new DecodeError(envelope.fault)
    if (reader.end - reader.position > MAX_ITEM_BYTES) refuseOversize(reader, kind)
    const item = kind.read(reader, envelope.resource, envelope.scope)
    const itemFault = kind.normalize(item)
    if (itemFault !== null) throw new DecodeError(itemFault)
    reader.leave()
    decoding.items.push(item)
  })
  endItem(reader.heap)
  if (fault === null) return
  const identity = identifyItem(reader.bytes.subarray(start, reader.position), kind)
  addRejection(decoding.rejected, { item: describeItem(kind.noun, identity, index), reason: fault })
}

/** Reads a nested message. If that fails, skips it and returns why; rethrows if its length is invalid, so that it cannot be skipped. */
function readOrSkip(reader: ProtobufReader, read: () => void): string | null {
  const { depth } = reader
  try {
    read()
    return null
  } catch (error) {
    if (!(error instanceof DecodeError) || reader.depth === depth) throw error
    reader.leaveTo(depth)
    return error.message
  }
}

/** The name and id of a rejected item, if they can be read. */
function identifyItem<Item>(bytes: Buffer, { tags }: ProtobufItems<Item>): ItemIdentity {
  const identity = { name: '', id: '' }
  const reader = new ProtobufReader(bytes, '')
  try {
    reader.enter('')
    while (reader.hasMore()) {
      const tag = reader.readTag()
      if (tag === tags.id) identity.id = reader.readHex().slice(0, 32)
      else if (tag === tags.name) identity.name = reader.readString()
      else reader.skip(tag)
    }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
  }
  return identity
}

function refuseOversize<Item>(reader: ProtobufReader, { tags }: ProtobufItems<Item>): never {
  const itemBytes = reader.end - reader.position
  const largest: LargestPart = { what: '', bytes: 0 }
  while (reader.hasMore()) {
    const tag = reader.readTag()
    const start = reader.position
    reader.skip(tag)
    if (reader.position - start <= largest.bytes) continue
    largest.bytes = reader.position - start
    largest.what = tag === tags.body ? 'its body' : `field ${tag >>> 3}`
    if (tag === tags.attribute) largest.what = describeAttribute(readKeyAt(reader, start))
  }
  throw new DecodeError(describeOversize(itemBytes, largest))
}

function readKeyAt(reader: ProtobufReader, start: number): string {
  const keyReader = new ProtobufReader(reader.bytes.subarray(start, reader.position), '')
  keyReader.enter('')
  while (keyReader.hasMore()) {
    const tag = keyReader.readTag()
    if (tag === 0x0a) return keyReader.readKey()
    keyReader.skip(tag)
  }
  return ''
}
