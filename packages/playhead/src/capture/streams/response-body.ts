import { AwsEventStream, EventStream, JsonLines } from './event-stream.ts'
import { decodingOf, StreamDecoder, type Decoding } from './content-encoding.ts'
import { Buffer } from 'node:buffer'

/** Longer bodies are not looked at: they would cost the host more than they tell. */
const MAX_WHOLE_BYTES = 32 * 1024 * 1024

export type BodyFacts = {
  contentType: string | undefined
  contentEncoding: string | undefined
  /** True when a stream was asked for. */
  isStream: boolean
  onEvent: (data: string, atMs: number) => void
}

/** Reads a copy of a response's body while it passes by: events one by one, anything else as one text. */
export class AnswerBody {
  readonly #onEvent: BodyFacts['onEvent']
  readonly #decoding: Decoding | undefined | null
  readonly #decoder: StreamDecoder | undefined
  readonly #utf8 = new TextDecoder()
  readonly #encoded: Uint8Array[] = []
  #events: EventStream | JsonLines | AwsEventStream | undefined
  #isSniffing: boolean
  #size = 0
  #text = ''

  constructor({ contentType = '', contentEncoding, isStream, onEvent }: BodyFacts) {
    this.#onEvent = onEvent
    this.#events = eventsOf(contentType)
    // Some servers stream under the name of something else.
    this.#isSniffing = isStream && this.#events === undefined
    this.#decoding = decodingOf(contentEncoding)
    const isStreamDecoded = (this.#events !== undefined || this.#isSniffing) && this.#decoding
    if (isStreamDecoded)
      this.#decoder = new StreamDecoder(isStreamDecoded, (bytes, atMs) => this.#read(bytes, atMs))
  }

  /** True once an event was seen, or is expected. */
  get isEvents(): boolean {
    return this.#events !== undefined
  }

  /** True when the body is encoded in a way that can't be undone, or too long to be read at once. */
  get isUnreadable(): boolean {
    return this.#decoding === null || (this.#size > MAX_WHOLE_BYTES && this.#events === undefined)
  }

  add(chunk: Uint8Array, atMs: number): void {
    this.#size += chunk.byteLength
    if (this.isUnreadable) return
    if (this.#decoder !== undefined) this.#decoder.add(chunk, atMs)
    else if (this.#decoding === undefined) this.#read(chunk, atMs)
    else this.#encoded.push(chunk)
  }

  end(atMs: number): void {
    if (this.isUnreadable) return
    this.#decoder?.end(atMs)
    if (this.#encoded.length > 0) this.#read(this.#decoding!.decode(Buffer.concat(this.#encoded)), atMs)
    if (this.#events === undefined || this.#events instanceof AwsEventStream) return
    for (const data of this.#events.end()) this.#onEvent(data, atMs)
  }

  /** Nobody wants to know the rest. */
  close(): void {
    this.#decoder?.close()
  }

  /** The whole body of an answer that was not streamed, or what a stream began with instead of events. */
  get text(): string {
    return this.#text
  }

  #read(bytes: Uint8Array, atMs: number): void {
    if (this.#events instanceof AwsEventStream) {
      for (const data of this.#events.add(bytes)) this.#onEvent(data, atMs)
      return
    }
    const text = this.#utf8.decode(bytes, { stream: true })
    if (this.#isSniffing) this.#sniff(text)
    if (this.#events === undefined) this.#text += text
    else for (const data of this.#events.add(text)) this.#onEvent(data, atMs)
  }

  #sniff(text: string): void {
    const start = text.trimStart()
    if (start === '') return
    this.#isSniffing = false
    if (/^(?:data|event|id|retry)?:/.test(start)) this.#events = new EventStream()
  }
}

function eventsOf(contentType: string): EventStream | JsonLines | AwsEventStream | undefined {
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase()
  if (type === 'text/event-stream') return new EventStream()
  if (type === 'application/x-ndjson' || type === 'application/ndjson' || type === 'application/jsonl')
    return new JsonLines()
  return type === 'application/vnd.amazon.eventstream' ? new AwsEventStream() : undefined
}

/** Embeddings: hundreds of numbers, or the same in base64. */
const vector = /\[[-+0-9.eE,\s]{256,}\]/g
const encoded = /"embedding":\s*"[A-Za-z0-9+/=]{256,}"/g

/** The JSON of an answer without its vectors, which take longer to parse than everything else. */
export function withoutVectors(json: string): string {
  if (!json.includes('"embedding')) return json
  return json.replace(vector, '[]').replace(encoded, '"embedding":""')
}
