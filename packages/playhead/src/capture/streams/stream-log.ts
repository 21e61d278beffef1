import { Buffer } from 'node:buffer'

const MAX_CHUNKS = 512

export type StreamChunk = [offsetMs: number, text: string]

/** The chunks of a streamed text with their times. Bounded: neighbours are joined if there are too many. */
export class StreamLog {
  #chunks: StreamChunk[] = []

  add(offsetMs: number, text: string): void {
    this.#chunks.push([Math.round(offsetMs * 100) / 100, text])
    if (this.#chunks.length > MAX_CHUNKS) this.#chunks = joinPairs(this.#chunks)
  }

  get text(): string {
    return this.#chunks.map(([, text]) => text).join('')
  }

  /** The chunks as JSON, with a text that may have been redacted. Undefined if there are none. */
  toJson(text: string, maxBytes: number): { json: string; isTruncated: boolean } | undefined {
    if (this.#chunks.length === 0) return undefined
    let chunks = text === this.text ? this.#chunks : splitLike(text, this.#chunks)
    let json = JSON.stringify(chunks)
    const isTruncated = Buffer.byteLength(json) > maxBytes
    while (Buffer.byteLength(json) > maxBytes && chunks.length > 1) {
      chunks = chunks.slice(0, Math.floor(chunks.length / 2))
      json = JSON.stringify(chunks)
    }
    return Buffer.byteLength(json) > maxBytes ? undefined : { json, isTruncated }
  }

  /** The times without the text. */
  toTimes(): string | undefined {
    if (this.#chunks.length === 0) return undefined
    return JSON.stringify(this.#chunks.map(([offsetMs]) => [offsetMs, '']))
  }
}

function joinPairs(chunks: readonly StreamChunk[]): StreamChunk[] {
  const joined: StreamChunk[] = []
  for (let index = 0; index < chunks.length; index += 2) {
    const [offsetMs, text] = chunks[index]!
    joined.push([offsetMs, text + (chunks[index + 1]?.[1] ?? '')])
  }
  return joined
}

/** A secret may span chunks, so the whole text is redacted and then split in the same proportions. */
function splitLike(text: string, chunks: readonly StreamChunk[]): StreamChunk[] {
  const total = chunks.reduce((sum, [, piece]) => sum + piece.length, 0)
  let passed = 0
  let start = 0
  return chunks.map(([offsetMs, piece]) => {
    passed += piece.length
    const end = Math.round((passed / total) * text.length)
    const share = text.slice(start, end)
    start = end
    return [offsetMs, share]
  })
}
