/** A batch as it is sent: OTLP in one of its encodings. */
export type Payload = { bytes: Uint8Array; contentType: string }

export const PROTOBUF = 'application/x-protobuf'

/** The names of spooled batches end with it. */
export const SPOOLED = '.otlp'
/** How the names of earlier versions end, which encoded OTLP as JSON. */
const SPOOLED_JSON = '.json'

export function isSpooledBatch(name: string): boolean {
  return name.endsWith(SPOOLED) || name.endsWith(SPOOLED_JSON)
}

/** The content type of a spooled batch, also while it is claimed. */
export function contentTypeOf(path: string): string {
  return path.replace(/\.sending$/, '').endsWith(SPOOLED_JSON) ? 'application/json' : PROTOBUF
}
