import { KnownError } from '../errors/known-error.ts'
import { MAX_REJECTIONS } from './limits.ts'

/** A decoded request: the items to store, and those that were rejected. A bad item never fails its batch. */
export type Batch<Item> = { items: Item[]; rejected: Rejection[] }

/** A span or log record that was not stored. `item` has its name and id if they could be decoded. */
export type Rejection = { item: string; reason: string }

/** Invalid input. Inside an item it rejects the item; outside, the whole request. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError'
}

const MAX_QUOTED_LENGTH = 80

/** Quotes untrusted text on one line. */
export function quote(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTED_LENGTH ? `${text.slice(0, MAX_QUOTED_LENGTH)}…` : text)
}

export type ItemNoun = 'span' | 'log record'
export type ItemIdentity = { name: string; id: string }

/** `span "chat gpt-4o" (331a29098dd0c52f)`, or `span #3` (of the request) if it has neither name nor id. */
export function describeItem(noun: ItemNoun, { name, id }: ItemIdentity, index: number): string {
  if (name === '' && id === '') return `${noun} #${index + 1}`
  return [noun, name === '' ? '' : quote(name), id === '' ? '' : `(${id})`].filter(Boolean).join(' ')
}

export function addRejection(rejected: Rejection[], rejection: Rejection): void {
  if (rejected.length === MAX_REJECTIONS) {
    const [first] = rejected
    throw new KnownError(
      'OTLP_UNREADABLE',
      `More than ${MAX_REJECTIONS} items of this request are invalid; the first is ${first?.item}: ${first?.reason}. Nothing was stored.`,
    )
  }
  rejected.push(rejection)
}

/** Turns a `DecodeError` outside of any item into the error that the sender gets. */
export function decodeOrRefuse<Decoded>(format: string, decode: () => Decoded): Decoded {
  try {
    return decode()
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    const message = `The body is not valid OTLP ${format}: ${error.message}. Nothing was stored.`
    throw new KnownError('OTLP_UNREADABLE', message, { cause: error })
  }
}

const MAX_MESSAGE_BYTES = 2048
const MAX_LISTED = 10
/** Leaves room for "; and 16384 more". */
const MAX_LIST_BYTES = MAX_MESSAGE_BYTES - 32

/** Lists the first few rejections, then says how many more there are. SDKs log this line. */
export function describeRejections(rejected: readonly Rejection[]): string {
  const listed: string[] = []
  let bytes = 0
  for (const { item, reason } of rejected.slice(0, MAX_LISTED)) {
    const line = `${item}: ${reason}`
    bytes += Buffer.byteLength(line) + 2
    if (bytes > MAX_LIST_BYTES) break
    listed.push(line)
  }
  const more = rejected.length - listed.length
  if (more > 0) listed.push(listed.length === 0 ? `${more} rejected` : `and ${more} more`)
  return listed.join('; ')
}
