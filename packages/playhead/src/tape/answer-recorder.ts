import { Buffer } from 'node:buffer'
import {
  assembleEvents,
  type CassetteAnswer,
  type CassetteEvent,
  type ConnectionFailure,
  parseJson,
  type NamedApi,
} from '@playhead/model'
import { isAbort } from '../capture/calls/call-error.ts'
import { decodingOf } from '../capture/streams/content-encoding.ts'
import type { ResponseTap } from '../record/session/active-tape.ts'

/** Keeps the response of a live request as a cassette has it: a stream event by event, anything else as one body. */
export class AnswerRecorder implements ResponseTap {
  /** Resolves when nothing more can come. */
  readonly ended: Promise<void>
  readonly #startedAt = performance.now()
  readonly #api: NamedApi
  readonly #utf8 = new TextDecoder()
  readonly #encoded: Uint8Array[] = []
  readonly #events: CassetteEvent[] = []
  #head: { status: number; headers: Record<string, string> } | undefined
  #text = ''
  #error: ConnectionFailure | undefined
  #isOver = false
  #isAborted = false
  #end!: () => void

  constructor(api: NamedApi) {
    this.#api = api
    this.ended = new Promise((resolve) => {
      this.#end = resolve
    })
  }

  onHead(status: number, headers: Record<string, string>): void {
    this.#head = { status, headers }
  }

  onChunk(bytes: Uint8Array): void {
    if (this.#encoding === undefined) this.#read(bytes)
    else this.#encoded.push(bytes)
  }

  onEnd(error?: unknown): void {
    this.#isOver = error === undefined
    this.#isAborted = isAbort(error)
    if (error !== undefined) this.#error = describeFailure(error)
    const decoding = decodingOf(this.#encoding)
    if (this.#encoded.length > 0 && decoding) this.#read(decoding.decode(Buffer.concat(this.#encoded)))
    this.#end()
  }

  /** Undefined for a response that never came, or whose bytes are no text. */
  get answer(): CassetteAnswer | undefined {
    if (this.#head === undefined) return this.#error === undefined ? undefined : { error: this.#error }
    const { status, headers } = this.#head
    if (/eventstream|octet-stream/.test(headers['content-type'] ?? '')) return undefined
    if (this.#separator === undefined) {
      // Few read the body of a response that they retry.
      const isKept = this.#isOver || status >= 400
      if (isKept) return { status, headers, body: parseJson(this.#text) }
      return this.#error === undefined ? undefined : { error: this.#error }
    }
    const rest: CassetteEvent[] = this.#text === '' ? [] : [[this.#elapsedMs(), this.#text]]
    const events = [...this.#events, ...rest]
    if (this.#isOver || this.#isComplete(events)) return { status, headers, events }
    return { status, headers, events, isAborted: true, ...(this.#failure && { failure: this.#failure }) }
  }

  /** What broke a stream, unless the client stopped reading it. */
  get #failure(): ConnectionFailure | undefined {
    return this.#isAborted ? undefined : this.#error
  }

  get #encoding(): string | undefined {
    const encoding = this.#head?.headers['content-encoding']
    return encoding === 'identity' ? undefined : encoding
  }

  /** What ends an event; undefined for a response that is no stream. */
  get #separator(): RegExp | undefined {
    const type = this.#head?.headers['content-type'] ?? ''
    if (type.includes('event-stream')) return /\r?\n\r?\n/
    return /ndjson|jsonl|json-?lines/.test(type) ? /\n/ : undefined
  }

  #read(bytes: Uint8Array): void {
    this.#text += this.#utf8.decode(bytes, { stream: true })
    const separator = this.#separator
    if (separator === undefined) return
    for (let end = separator.exec(this.#text); end !== null; end = separator.exec(this.#text)) {
      const length = end.index + end[0].length
      this.#events.push([this.#elapsedMs(), this.#text.slice(0, length)])
      this.#text = this.#text.slice(length)
    }
  }

  #elapsedMs(): number {
    return Math.round(performance.now() - this.#startedAt)
  }

  /** Clients stop reading after the last event, which is no abort. */
  #isComplete(events: readonly CassetteEvent[]): boolean {
    const whole = assembleEvents(events, this.#api.name)
    return whole !== undefined && this.#api.api.readResponse(whole).finishReasons.length > 0
  }
}

function describeFailure(error: unknown): ConnectionFailure {
  const known: Error & { code?: unknown } = error instanceof Error ? error : new Error(String(error))
  return { code: typeof known.code === 'string' ? known.code : known.name, message: known.message }
}
