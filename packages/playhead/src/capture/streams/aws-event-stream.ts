import { Buffer } from 'node:buffer'
import { isObject, parseJson } from '../json-value.ts'

const PRELUDE_BYTES = 12
const CHECKSUM_BYTES = 4

/** Bedrock's binary frames: lengths, headers, and a JSON payload that holds the provider's event in base64. */
export class AwsEventStream {
  #rest = Buffer.alloc(0)

  add(bytes: Uint8Array): string[] {
    const found: string[] = []
    this.#rest = Buffer.concat([this.#rest, bytes])
    while (this.#rest.byteLength >= PRELUDE_BYTES) {
      const length = this.#rest.readUInt32BE(0)
      if (length <= PRELUDE_BYTES || this.#rest.byteLength < length) break
      const payloadStart = PRELUDE_BYTES + this.#rest.readUInt32BE(4)
      const payload = parseJson(this.#rest.toString('utf8', payloadStart, length - CHECKSUM_BYTES))
      if (isObject(payload) && typeof payload.bytes === 'string')
        found.push(Buffer.from(payload.bytes, 'base64').toString())
      this.#rest = this.#rest.subarray(length)
    }
    return found
  }
}
