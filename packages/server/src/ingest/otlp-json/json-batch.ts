import { emptyAttributes, type Attributes, type Scope } from '@playhead/model'
import type { Batch } from '../batch.ts'
import { beginItem, chargeHeap, endItem } from '../heap-allowance.ts'
import { measureValue } from '../item-size.ts'
import { readJsonBody } from './json-body.ts'
import { isJsonObject, readJsonList, readJsonObject, readJsonText, type JsonObject } from './json-fields.ts'
import { createJsonReading, readJsonAttributes, type JsonReading } from './json-values.ts'
import { CONTAINER_HEAP_BYTES, MAX_ITEM_BYTES } from '../limits.ts'
import { addRejection, describeItem, Unreadable, type ItemIdentity, type ItemNoun } from '../rejection.ts'
import { checkOriginBytes } from '../value-rules.ts'

/** How spans or log records are read. The objects around them differ in names only. */
export type JsonItems<Item> = {
  noun: ItemNoun
  fields: { byResource: FieldName; byScope: FieldName; items: FieldName }
  /** The field of a request that was sent to the wrong address. */
  stray: { field: FieldName; advice: string }
  read: (item: JsonObject, origin: Origin, reading: JsonReading) => Item
  /** Completes the item, or says why it cannot be stored. */
  settle: (item: Item) => string | null
  /** Why the item is too big; asked only where the body is big enough for that. */
  findSizeFault: (item: Item) => string | null
  identify: (item: JsonObject) => ItemIdentity
}

/** Protobuf's JSON has camelCase and takes snake_case too. */
type FieldName = { camel: string; snake: string }

/** What lies around an item. A fault in there is a fault of every item inside. */
export type Origin = { resource: Attributes; scope: Scope; fault: string | null }

type Progress<Item> = Batch<Item> & {
  kind: JsonItems<Item>
  reading: JsonReading
  canHoldOversize: boolean
  seen: number
}

export function readJsonBatch<Item>(body: Buffer, kind: JsonItems<Item>): Batch<Item> {
  const progress: Progress<Item> = {
    kind,
    reading: createJsonReading(),
    canHoldOversize: body.length > MAX_ITEM_BYTES,
    items: [],
    rejected: [],
    seen: 0,
  }
  for (const request of readJsonBody(body)) readRequest(request, progress)
  return { items: progress.items, rejected: progress.rejected }
}

function readRequest<Item>(request: JsonObject, progress: Progress<Item>): void {
  const { byResource } = progress.kind.fields
  const { stray } = progress.kind
  if (pick(request, byResource) === undefined && pick(request, stray.field) !== undefined) {
    throw new Unreadable(stray.advice)
  }
  for (const [path, value] of listAt(request, byResource, '')) {
    readResourceItems(readJsonObject(value, path), path, progress)
  }
}

function readResourceItems<Item>(value: JsonObject, path: string, progress: Progress<Item>): void {
  chargeHeap(progress.reading.allowance, CONTAINER_HEAP_BYTES)
  let resource = emptyAttributes()
  const fault = tryReading('resource', () => {
    const given = value.resource ?? {}
    resource = readJsonAttributes(readJsonObject(given, 'it').attributes, progress.reading)
    checkOriginBytes(measureValue(resource))
  })
  for (const [scopePath, scopeValue] of listAt(value, progress.kind.fields.byScope, `${path}.`)) {
    const origin = { resource, scope: { name: '', version: '' }, fault }
    readScopeItems(readJsonObject(scopeValue, scopePath), { path: scopePath, origin, progress })
  }
}

function readScopeItems<Item>(
  value: JsonObject,
  { path, origin, progress }: { path: string; origin: Origin; progress: Progress<Item> },
): void {
  chargeHeap(progress.reading.allowance, CONTAINER_HEAP_BYTES)
  const scopeFault = tryReading('scope', () => {
    const given = readJsonObject(value.scope ?? {}, 'it')
    origin.scope.name = readJsonText(given.name, 'its name')
    origin.scope.version = readJsonText(given.version, 'its version')
    checkOriginBytes(measureValue(origin.scope))
  })
  origin.fault ??= scopeFault
  const { camel } = progress.kind.fields.items
  const items = readJsonList(pick(value, progress.kind.fields.items), `${path}.${camel}`)
  for (const item of items) acceptItem(item, origin, progress)
}

function acceptItem<Item>(value: unknown, origin: Origin, progress: Progress<Item>): void {
  const { kind, reading } = progress
  const index = progress.seen++
  beginItem(reading.allowance)
  const fault = origin.fault ?? readItem(value, origin, progress)
  endItem(reading.allowance)
  if (fault === null) return
  const identity = isJsonObject(value) ? kind.identify(value) : { name: '', id: '' }
  addRejection(progress.rejected, { item: describeItem(kind.noun, identity, index), reason: fault })
}

function readItem<Item>(value: unknown, origin: Origin, progress: Progress<Item>): string | null {
  const { kind, reading } = progress
  try {
    const item = kind.read(readJsonObject(value, 'it'), origin, reading)
    const fault = kind.settle(item) ?? (progress.canHoldOversize ? kind.findSizeFault(item) : null)
    if (fault === null) progress.items.push(item)
    return fault
  } catch (error) {
    return messageOf(error)
  }
}

function tryReading(what: string, read: () => void): string | null {
  try {
    read()
    return null
  } catch (error) {
    return `its ${what} cannot be read: ${messageOf(error)}`
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Unreadable)) throw error
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
