import { emptyAttributes, type Attributes, type Scope } from '@playhead/model'
import type { Batch } from '../batch.ts'
import { beginItem, chargeHeap, endItem } from '../heap-allowance.ts'
import { describeAttribute, describeOversize, type LargestPart } from '../item-size.ts'
import { CONTAINER_HEAP_BYTES, MAX_ITEM_BYTES } from '../limits.ts'
import { ProtobufReader } from './protobuf-reader.ts'
import { readResource, readScope } from './protobuf-values.ts'
import { addRejection, describeItem, Unreadable, type ItemIdentity, type ItemNoun } from '../rejection.ts'

/** How spans or log records are read. The messages around them have the same fields. */
export type ProtobufItems<Item> = {
  noun: ItemNoun
  messages: { request: string; byResource: string; byScope: string; item: string }
  /** Tags that tell what an item is called and what can be big in it. */
  tags: { id: number; name: number; attribute: number; body?: number }
  /** Reads the fields of an item that was entered. */
  read: (reader: ProtobufReader, resource: Attributes, scope: Scope) => Item
  /** Completes the item, or says why it cannot be stored. */
  settle: (item: Item) => string | null
}

type Reading<Item> = Batch<Item> & { kind: ProtobufItems<Item>; reader: ProtobufReader; seen: number }

/** What lies around an item. A fault in there is a fault of every item inside. */
type Origin = { resource: Attributes; scope: Scope; fault: string | null }

export function readProtobufBatch<Item>(body: Buffer, kind: ProtobufItems<Item>): Batch<Item> {
  const reader = new ProtobufReader(body, kind.messages.request)
  const reading: Reading<Item> = { kind, reader, items: [], rejected: [], seen: 0 }
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === 0x0a) readResourceItems(reading)
    else reader.skip(tag)
  }
  return { items: reading.items, rejected: reading.rejected }
}

function readResourceItems<Item>(reading: Reading<Item>): void {
  const { reader, kind } = reading
  chargeHeap(reader.allowance, CONTAINER_HEAP_BYTES)
  reader.enter(kind.messages.byResource)
  const resource = emptyAttributes()
  const fault = readAhead(reader, 'resource', () => readResource(reader, resource))
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === 0x12) readScopeItems(reading, resource, fault)
    else reader.skip(tag)
  }
  reader.leave()
}

function readScopeItems<Item>(reading: Reading<Item>, resource: Attributes, fault: string | null): void {
  const { reader, kind } = reading
  chargeHeap(reader.allowance, CONTAINER_HEAP_BYTES)
  reader.enter(kind.messages.byScope)
  const scope: Scope = { name: '', version: '' }
  const scopeFault = readAhead(reader, 'scope', () => readScope(reader, scope))
  const origin: Origin = { resource, scope, fault: fault ?? scopeFault }
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === 0x12) readItem(reading, origin)
    else reader.skip(tag)
  }
  reader.leave()
}

/** Reads field 1 of a message before the others: protobuf lets it come last. */
function readAhead(reader: ProtobufReader, what: string, read: () => void): string | null {
  const start = reader.position
  let fault: string | null = null
  while (reader.hasMore()) {
    const tag = reader.readTag()
    if (tag === 0x0a) fault = readOrPass(reader, read) ?? fault
    else reader.skip(tag)
  }
  reader.position = start
  return fault === null ? null : `its ${what} cannot be read: ${fault}`
}

function readItem<Item>(reading: Reading<Item>, origin: Origin): void {
  const { reader, kind } = reading
  const start = reader.position
  const index = reading.seen++
  beginItem(reader.allowance)
  const fault = readOrPass(reader, () => {
    reader.enter(kind.messages.item)
    if (origin.fault !== null) throw new Unreadable(origin.fault)
    if (reader.end - reader.position > MAX_ITEM_BYTES) refuseOversize(reader, kind)
    const item = kind.read(reader, origin.resource, origin.scope)
    const itemFault = kind.settle(item)
    if (itemFault !== null) throw new Unreadable(itemFault)
    reader.leave()
    reading.items.push(item)
  })
  endItem(reader.allowance)
  if (fault === null) return
  const identity = identifyItem(reader.bytes.subarray(start, reader.position), kind)
  addRejection(reading.rejected, { item: describeItem(kind.noun, identity, index), reason: fault })
}

/** Reads a nested message; when that fails, goes past it and says why. Without a length that fits there is no going past. */
function readOrPass(reader: ProtobufReader, read: () => void): string | null {
  const { depth } = reader
  try {
    read()
    return null
  } catch (error) {
    if (!(error instanceof Unreadable) || reader.depth === depth) throw error
    reader.leaveTo(depth)
    return error.message
  }
}

/** Name and id of an item that could not be read, as far as they can. */
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
    if (!(error instanceof Unreadable)) throw error
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
  throw new Unreadable(describeOversize(itemBytes, largest))
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
