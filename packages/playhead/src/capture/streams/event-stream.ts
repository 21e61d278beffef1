import { Buffer } from 'node:buffer'
import { isRecord, parseJson } from '@playhead/model'

/** Parses server-sent events from arbitrary chunks. Only `data` fields matter here. */
export class EventStream {
  #rest = ''
  #data: string | undefined

  /** Returns the data of the events that the text completes. */
  add(text: string): string[] {
    const found: string[] = []
    const all = this.#rest + text
    let start = 0
    for (let end = all.indexOf('\n'); end !== -1; end = all.indexOf('\n', start)) {
      const isReturned = all.charCodeAt(end - 1) === 13
      this.#addLine(all.slice(start, isReturned ? end - 1 : end), found)
      start = end + 1
    }
    this.#rest = start === 0 ? all : all.slice(start)
    return found
  }

  /** Returns what is left if the stream ends without a blank line. */
  end(): string[] {
    return this.add('\n\n')
  }

  #addLine(line: string, found: string[]): void {
    if (line === '') {
      if (this.#data !== undefined) found.push(this.#data)
      this.#data = undefined
    } else if (line.startsWith('data:')) {
      const value = line.slice(line.charCodeAt(5) === 32 ? 6 : 5)
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`
    }
  }
}

/** Parses newline-delimited JSON. */
export class JsonLines {
  #rest = ''

  add(text: string): string[] {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    return lines.filter((line) => line.trim() !== '')
  }

  end(): string[] {
    return this.add('\n')
  }
}

const PRELUDE_BYTES = 12
const CHECKSUM_BYTES = 4

/** Parses Bedrock's binary frames: lengths, headers, and a JSON payload with the provider's event in base64. */
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
      if (isRecord(payload) && typeof payload.bytes === 'string')
        found.push(Buffer.from(payload.bytes, 'base64').toString())
      this.#rest = this.#rest.subarray(length)
    }
    return found
  }
}
