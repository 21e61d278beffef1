import { KnownError } from '../../errors/known-error.ts'
import { findJsonErrorPosition } from './json-error-position.ts'
import { readJsonObject, type JsonObject } from './json-fields.ts'
import { MAX_JSON_CONTAINERS, MAX_UNCOUNTED_JSON_BYTES } from '../limits.ts'
import { DecodeError } from '../rejection.ts'

/** Parses the requests in a JSON body: one object, a list of them, or one per line. */
export function readJsonBody(body: Buffer): JsonObject[] {
  if (body.length > MAX_UNCOUNTED_JSON_BYTES) refuseHeavyJson(body)
  const text = body.toString('utf8').replace(/^\uFEFF/, '')
  return parseRequests(text).map(readRequest)
}

function readRequest(request: unknown): JsonObject {
  return readJsonObject(request, 'a request in the body')
}

function parseRequests(text: string): readonly unknown[] {
  try {
    return toList(JSON.parse(text))
  } catch (error) {
    return parseJsonLines(text) ?? refuseJson(text, { start: 0, end: text.length }, error)
  }
}

/** Null if the first line is not a complete request: then the text is one document. */
function parseJsonLines(text: string): JsonObject[] | null {
  const requests: JsonObject[] = []
  let start = skipWhitespace(text, 0)
  while (start < text.length) {
    const lineBreak = text.indexOf('\n', start)
    const end = lineBreak === -1 ? text.length : lineBreak
    let parsed: unknown
    try {
      parsed = JSON.parse(text.slice(start, end))
    } catch (error) {
      return requests.length === 0 ? null : refuseJson(text, { start, end }, error)
    }
    for (const request of toList(parsed)) requests.push(readRequest(request))
    start = skipWhitespace(text, end)
  }
  return requests.length === 0 ? null : requests
}

const whitespace = /\s*/y

function skipWhitespace(text: string, position: number): number {
  whitespace.lastIndex = position
  whitespace.test(text)
  return whitespace.lastIndex
}

function toList(parsed: unknown): readonly unknown[] {
  return Array.isArray(parsed) ? parsed : [parsed]
}

function refuseJson(text: string, { start, end }: { start: number; end: number }, error: unknown): never {
  const message = error instanceof Error ? error.message : String(error)
  const position = start + findJsonErrorPosition(text.slice(start, end), message)
  let line = 1
  let lineStart = 0
  for (let next = text.indexOf('\n') + 1; next > 0 && next <= position; next = text.indexOf('\n', next) + 1) {
    line++
    lineStart = next
  }
  throw new DecodeError(
    `it is not valid JSON at line ${line}, column ${position - lineStart + 1}: ${message}`,
  )
}

/** JSON.parse turns the two bytes of `{}` into 64 bytes of heap, so containers are counted before parsing. */
export function refuseHeavyJson(body: Buffer): void {
  let containers = 0
  for (let position = 0; position < body.length; position++) {
    const byte = body[position]
    if (byte === 0x22) position = endOfString(body, position)
    else if (byte === 0x7b || byte === 0x5b) containers++
  }
  if (containers > MAX_JSON_CONTAINERS) {
    throw new KnownError(
      'BODY_TOO_LARGE',
      `The JSON has ${containers} objects and lists; the limit is ${MAX_JSON_CONTAINERS}: send smaller batches.`,
    )
  }
}

function endOfString(body: Buffer, start: number): number {
  let end = start
  do end = body.indexOf(0x22, end + 1)
  while (end !== -1 && isEscaped(body, end))
  return end === -1 ? body.length : end
}

function isEscaped(body: Buffer, position: number): boolean {
  let start = position
  while (body[start - 1] === 0x5c) start--
  return (position - start) % 2 === 1
}
