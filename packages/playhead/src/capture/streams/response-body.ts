import { AwsEventStream, EventStream, JsonLines } from './event-stream.ts'
import { decodingOf, StreamDecoder, type Decoding } from './content-encoding.ts'
import { Buffer } from 'node:buffer'

/** Longer bodies are not parsed, because of what that would cost the host. */
const MAX_BYTES = 32 * 1024 * 1024

export type ResponseBodyOptions = {
  contentType: string | undefined
  contentEncoding: string | undefined
  /** True if the request asked for a stream. */
  isStream: boolean
  onEvent: (data: string, atMs: number) => void
}

/** Reads a copy of a response body: a stream event by event, anything else as one text. */
export class ResponseBody {
  readonly #onEvent: ResponseBodyOptions['onEvent']
  readonly #decoding: Decoding | undefined | null
  readonly #decoder: StreamDecoder | undefined
  readonly #utf8 = new TextDecoder()
  readonly #encoded: Uint8Array[] = []
  #events: EventStream | JsonLines | AwsEventStream | undefined
  #isSniffing: boolean
  #size = 0
  #text = ''

  constructor({ contentType = '', contentEncoding, isStream, onEvent }: ResponseBodyOptions) {
    this.#onEvent = onEvent
    this.#events = createEventParser(contentType)
    // Some servers send a stream with the wrong content type.
    this.#isSniffing = isStream && this.#events === undefined
    this.#decoding = decodingOf(contentEncoding)
    const isStreamDecoded = (this.#events !== undefined || this.#isSniffing) && this.#decoding
    if (isStreamDecoded)
      this.#decoder = new StreamDecoder(isStreamDecoded, (bytes, atMs) => this.#read(bytes, atMs))
  }

  /** True if it is, or turned out to be, a stream of events. */
  get isEvents(): boolean {
    return this.#events !== undefined
  }

  /** True if its encoding is unknown or it is too long. */
  get isUnreadable(): boolean {
    return this.#decoding === null || (this.#size > MAX_BYTES && this.#events === undefined)
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

  close(): void {
    this.#decoder?.close()
  }

  /** The body, if it is not a stream of events. */
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

function createEventParser(contentType: string): EventStream | JsonLines | AwsEventStream | undefined {
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase()
  if (type === 'text/event-stream') return new EventStream()
  if (type === 'application/x-ndjson' || type === 'application/ndjson' || type === 'application/jsonl')
    return new JsonLines()
  return type === 'application/vnd.amazon.eventstream' ? new AwsEventStream() : undefined
}

/** Embeddings: hundreds of numbers, or base64. */
const vector = /\[[-+0-9.eE,\s]{256,}\]/g
const encoded = /"embedding":\s*"[A-Za-z0-9+/=]{256,}"/g

/** Removes embedding vectors, which take longer to parse than everything else. */
export function withoutVectors(json: string): string {
  if (!json.includes('"embedding')) return json
  return json.replace(vector, '[]').replace(encoded, '"embedding":""')
}
