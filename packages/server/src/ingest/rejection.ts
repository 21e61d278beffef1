import { KnownError } from '../errors/known-error.ts'
import { MAX_REJECTIONS } from './limits.ts'

/** A span or log record that was not stored. `item` is its name and id as far as they are known. */
export type Rejection = { item: string; reason: string }

/** Something in the request cannot be read. Inside a span it costs that span, outside of one the request. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}

const LONGEST_QUOTE = 80

/** Text that a stranger wrote, safe to show on one line. */
export function quote(text: string): string {
  return JSON.stringify(text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text)
}

export type ItemNoun = 'span' | 'log record'
export type ItemIdentity = { name: string; id: string }

/** `span "chat gpt-4o" (331a29098dd0c52f)`, or `span #3` (of the request) when it has neither name nor id. */
export function describeItem(noun: ItemNoun, { name, id }: ItemIdentity, index: number): string {
  if (name === '' && id === '') return `${noun} #${index + 1}`
  return [noun, name === '' ? '' : quote(name), id === '' ? '' : `(${id})`].filter(Boolean).join(' ')
}

export function addRejection(rejected: Rejection[], rejection: Rejection): void {
  if (rejected.length === MAX_REJECTIONS) {
    const [first] = rejected
    throw new KnownError(
      'OTLP_UNREADABLE',
      `More than ${MAX_REJECTIONS} items of this request cannot be read; the first: ${first?.item}: ${first?.reason}. Nothing was stored.`,
    )
  }
  rejected.push(rejection)
}

/** Runs a decoder; what is unreadable outside of any item makes the request a bad one. */
export function refuseUnreadable<Decoded>(format: string, decode: () => Decoded): Decoded {
  try {
    return decode()
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    const message = `The body cannot be read as OTLP ${format}: ${error.message}. Nothing was stored.`
    throw new KnownError('OTLP_UNREADABLE', message, { cause: error })
  }
}
