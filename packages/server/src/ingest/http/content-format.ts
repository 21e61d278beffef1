import { KnownError } from '../../errors/known-error.ts'

export type ContentFormat = 'json' | 'protobuf'

const protobufTypes = new Set([
  'application/x-protobuf',
  'application/protobuf',
  'application/vnd.google.protobuf',
])

/** What a body is, by its content type; a sender that gives none is guessed by the first byte. */
export function readContentFormat(body: Buffer, contentType: string): ContentFormat {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  if (protobufTypes.has(type)) return 'protobuf'
  if (type === 'application/json') return 'json'
  if (type === '') return startsLikeJson(body) ? 'json' : 'protobuf'
  throw new KnownError(
    'UNSUPPORTED_MEDIA_TYPE',
    `The content type ${JSON.stringify(type.slice(0, 100))} is not OTLP: send application/x-protobuf or application/json.`,
  )
}

/** No white space before it: OTLP's protobuf starts with a line feed. */
function startsLikeJson(body: Buffer): boolean {
  return body[0] === 0x7b || body[0] === 0x5b
}
