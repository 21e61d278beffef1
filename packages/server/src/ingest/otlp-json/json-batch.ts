import { emptyAttributes, type Attributes, type Scope } from '@playhead/model'
import { beginItem, chargeHeap, endItem } from '../heap-budget.ts'
import { measureValue } from '../item-faults.ts'
import { readJsonBody } from './json-body.ts'
import { isJsonObject, readJsonList, readJsonObject, readJsonText, type JsonObject } from './json-fields.ts'
import { createJsonState, readJsonAttributes, type JsonState } from './json-values.ts'
import { CONTAINER_HEAP_BYTES, MAX_ITEM_BYTES } from '../limits.ts'
import {
  addRejection,
  decodeOrRefuse,
  describeItem,
  DecodeError,
  type ItemIdentity,
  type ItemNoun,
  type Batch,
} from '../rejection.ts'
import { checkEnvelopeBytes } from '../value-rules.ts'

/** How spans or log records are decoded. The objects around them differ only in field names. */
export type JsonItems<Item> = {
  noun: ItemNoun
  fields: { byResource: FieldName; byScope: FieldName; items: FieldName }
  /** The field of a request that belongs to another endpoint. */
  wrongEndpoint: { field: FieldName; hint: string }
  read: (item: JsonObject, envelope: Envelope, state: JsonState) => Item
  /** Fills in absent fields, or returns why the item cannot be stored. */
  normalize: (item: Item) => string | null
  /** Why the item is too large; called only if the body is large enough for that. */
  findSizeFault: (item: Item) => string | null
  identify: (item: JsonObject) => ItemIdentity
}

/** Protobuf's JSON mapping writes camelCase and accepts snake_case. */
type FieldName = { camel: string; snake: string }

/** The resource and scope around items. A fault in them rejects every item inside. */
export type Envelope = { resource: Attributes; scope: Scope; fault: string | null }

type Decoding<Item> = Batch<Item> & {
  kind: JsonItems<Item>
  state: JsonState
  canHaveLargeItems: boolean
  seen: number
}

export function decodeJsonBatch<Item>(body: Buffer, kind: JsonItems<Item>): Batch<Item> {
  const decoding: Decoding<Item> = {
    kind,
    state: createJsonState(),
    canHaveLargeItems: body.length > MAX_ITEM_BYTES,
    items: [],
    rejected: [],
    seen: 0,
  }
  decodeOrRefuse('json', () => {
    for (const request of readJsonBody(body)) readRequest(request, decoding)
  })
  return { items: decoding.items, rejected: decoding.rejected }
}

function readRequest<Item>(request: JsonObject, decoding: Decoding<Item>): void {
  const { byResource } = decoding.kind.fields
  const { wrongEndpoint } = decoding.kind
  if (pick(request, byResource) === undefined && pick(request, wrongEndpoint.field) !== undefined) {
    throw new DecodeError(wrongEndpoint.hint)
  }
  for (const [path, value] of listAt(request, byResource, '')) {
    readResourceItems(readJsonObject(value, path), path, decoding)
  }
}

function readResourceItems<Item>(value: JsonObject, path: string, decoding: Decoding<Item>): void {
  chargeHeap(decoding.state.heap, CONTAINER_HEAP_BYTES)
  let resource = emptyAttributes()
  const fault = faultOf('resource', () => {
    const given = value.resource ?? {}
    resource = readJsonAttributes(readJsonObject(given, 'it').attributes, decoding.state)
    checkEnvelopeBytes(measureValue(resource))
  })
  for (const [scopePath, scopeValue] of listAt(value, decoding.kind.fields.byScope, `${path}.`)) {
    const envelope = { resource, scope: { name: '', version: '' }, fault }
    readScopeItems(readJsonObject(scopeValue, scopePath), { path: scopePath, envelope, decoding })
  }
}

function readScopeItems<Item>(
  value: JsonObject,
  { path, envelope, decoding }: { path: string; envelope: Envelope; decoding: Decoding<Item> },
): void {
  chargeHeap(decoding.state.heap, CONTAINER_HEAP_BYTES)
  const scopeFault = faultOf('scope', () => {
    const given = readJsonObject(value.scope ?? {}, 'it')
    envelope.scope.name = readJsonText(given.name, 'its name')
    envelope.scope.version = readJsonText(given.version, 'its version')
    checkEnvelopeBytes(measureValue(envelope.scope))
  })
  envelope.fault ??= scopeFault
  const { camel } = decoding.kind.fields.items
  const items = readJsonList(pick(value, decoding.kind.fields.items), `${path}.${camel}`)
  for (const item of items) acceptItem(item, envelope, decoding)
}

function acceptItem<Item>(value: unknown, envelope: Envelope, decoding: Decoding<Item>): void {
  const { kind, state } = decoding
  const index = decoding.seen++
  beginItem(state.heap)
  const fault = envelope.fault ?? readItem(value, envelope, decoding)
  endItem(state.heap)
  if (fault === null) return
  const identity = isJsonObject(value) ? kind.identify(value) : { name: '', id: '' }
  addRejection(decoding.rejected, { item: describeItem(kind.noun, identity, index), reason: fault })
}

function readItem<Item>(value: unknown, envelope: Envelope, decoding: Decoding<Item>): string | null {
  const { kind, state } = decoding
  try {
    const item = kind.read(readJsonObject(value, 'it'), envelope, state)
    const fault = kind.normalize(item) ?? (decoding.canHaveLargeItems ? kind.findSizeFault(item) : null)
    if (fault === null) decoding.items.push(item)
    return fault
  } catch (error) {
    return messageOf(error)
  }
}

function faultOf(what: string, read: () => void): string | null {
  try {
    read()
    return null
  } catch (error) {
    return `its ${what} is invalid: ${messageOf(error)}`
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof DecodeError)) throw error
  return error.message
}

function pick(value: JsonObject, { camel, snake }: FieldName): unknown {
  return value[camel] ?? value[snake]
}

/** The elements of a list with the path of each, as in `resourceSpans[0].scopeSpans[2]`. */
function* listAt(value: JsonObject, field: FieldName, prefix: string): Generator<[string, unknown]> {
  const path = `${prefix}${field.camel}`
  for (const [index, element] of readJsonList(pick(value, field), path).entries()) {
    yield [`${path}[${index}]`, element]
  }
}
