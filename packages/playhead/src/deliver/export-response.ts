import { parseJson, toObject } from '@playhead/model'

/** What a server says about a batch that it stored. */
export type ExportResponse = { rejectedSteps: number; message: string }

export type ResponseParts = { contentType: string | undefined; body: Buffer }

/**
 * Reads OTLP's `ExportTraceServiceResponse`, as JSON or protobuf. Undefined for anything else: a proxy, a login page or
 * another program also answers with 200, but it has not stored anything.
 */
export function readExportResponse({ contentType = '', body }: ResponseParts): ExportResponse | undefined {
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase()
  if (type === 'text/html') return undefined
  // An empty message of protobuf has no bytes, and some servers answer 204.
  if (body.length === 0) return { rejectedSteps: 0, message: '' }
  if (type === 'application/x-protobuf' || type === 'application/protobuf') return readProtobuf(body)
  return type === '' || type === 'application/json' || type.endsWith('+json') ? readJson(body) : undefined
}

function readJson(body: Buffer): ExportResponse | undefined {
  let response: unknown
  try {
    response = JSON.parse(body.toString())
  } catch {
    return undefined
  }
  if (!isObject(response)) return undefined
  const partial = response.partialSuccess ?? response.partial_success
  if (!isObject(partial)) return Object.keys(response).every(isPartialSuccess) ? noRejections() : undefined
  const rejected = Number(partial.rejectedSpans ?? partial.rejected_spans ?? 0)
  const message = partial.errorMessage ?? partial.error_message
  return {
    rejectedSteps: Number.isFinite(rejected) ? Math.max(0, rejected) : 0,
    message: typeof message === 'string' ? message : '',
  }
}

function isPartialSuccess(key: string): boolean {
  return key === 'partialSuccess' || key === 'partial_success'
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function noRejections(): ExportResponse {
  return { rejectedSteps: 0, message: '' }
}

const MAX_MESSAGE_LENGTH = 300

/** Why a server refused a batch: the `message` of `google.rpc.Status`, its field 2 in protobuf. Empty if it does not say. */
export function readErrorMessage({ contentType = '', body }: ResponseParts): string {
  const message = contentType.includes('protobuf')
    ? fieldsOf(body)
        ?.find(({ field }) => field === 2)
        ?.value.toString()
    : (toObject(parseJson(body.toString())) as { message?: unknown }).message
  return typeof message === 'string' ? message.slice(0, MAX_MESSAGE_LENGTH) : ''
}

/** `partial_success` is field 1; in it, `rejected_spans` is field 1 and `error_message` field 2. */
function readProtobuf(body: Buffer): ExportResponse | undefined {
  const fields = fieldsOf(body)
  if (fields === undefined) return undefined
  const response = noRejections()
  for (const { field, value: partial } of fields) {
    if (field !== 1 || typeof partial === 'number') continue
    for (const { field: inner, value } of fieldsOf(partial) ?? []) {
      if (inner === 1 && typeof value === 'number') response.rejectedSteps = value
      if (inner === 2 && typeof value !== 'number') response.message = value.toString()
    }
  }
  return response
}

type Field = { field: number; value: number | Buffer }

const VARINT = 0
const LENGTH_DELIMITED = 2

/** The fields of a message; undefined if the bytes are no message, or one with fields that OTLP does not use here. */
function fieldsOf(bytes: Buffer): Field[] | undefined {
  const fields: Field[] = []
  let offset = 0
  const readVarint = () => {
    let value = 0
    for (let shift = 1; offset < bytes.length; shift *= 128) {
      const byte = bytes[offset++]!
      value += (byte & 127) * shift
      if (byte < 128) return value
    }
    return Number.NaN
  }
  while (offset < bytes.length) {
    const tag = readVarint()
    const value = readVarint()
    if (Number.isNaN(value) || tag < 8) return undefined
    if (tag % 8 === VARINT) fields.push({ field: Math.floor(tag / 8), value })
    else if (tag % 8 === LENGTH_DELIMITED && offset + value <= bytes.length) {
      fields.push({ field: Math.floor(tag / 8), value: bytes.subarray(offset, offset + value) })
      offset += value
    } else return undefined
  }
  return fields
}
