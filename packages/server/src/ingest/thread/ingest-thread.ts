import { Worker } from 'node:worker_threads'
import { ReceivedBody } from '../../door/received-body.ts'
import { KnownError } from '../../errors/known-error.ts'
import { EncodedRows } from '../../log/native-block.ts'
import type { FreshPart } from '../../sessions/fresh-rows.ts'
import type { EncodedSpans, Encoding, SpanThread, ThreadContext, TraceRequest } from '../span-thread.ts'
import type { EncodeResult } from './encode-spans.ts'
import type { ThreadMessage, ThreadReply } from './thread-main.ts'

/** From about 4,000 spans a second on, one thread can't keep up for long. */
const BUSY_BYTES_A_SECOND = 10 * 1024 * 1024
const WINDOW_MS = 1_000
/** A thread costs memory. */
const QUIET_MS = 30_000
const CHECK_MS = 5_000
const RESTART_MS = 30_000
/** Of a longer queue, this thread takes the next request. */
const MAX_QUEUE = 6
/** What is smaller is read before another thread has heard of it, and what is larger takes long. */
const BODY_BYTES = { least: 4 * 1024, most: 2 * 1024 * 1024 }
/** A span takes more. */
const LEAST_SPAN_BYTES = 64
/** Each piece that is handed over takes time; a body of 2 MB has 32. */
const MAX_PIECES = 64
/** It reads one request at a time. Without limits, its heap grows to 170 MB of garbage; with less, it collects too often. */
const THREAD_MEMORY = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 24 }
const MAX_SPARE = MAX_QUEUE + 2
const MAX_SPARE_BYTES = 2 * 1024 * 1024

type Waiting = { resolve: (encoding: Encoding) => void; reject: (error: Error) => void }

/**
 * Reads spans in another thread while many arrive: what takes a server longest. Without it, reading them and computing sessions
 * share one thread.
 */
export class IngestThread implements SpanThread {
  readonly #report: (line: string) => void
  readonly #busyBytes: number
  #worker: Worker | undefined
  #isReady = false
  #retryAtMs = -Infinity
  readonly #waiting = new Map<number, Waiting>()
  /** The revision of the prices that the thread has of each project. */
  readonly #prices = new Map<string, number>()
  readonly #spare: ArrayBuffer[] = []
  #jobs = 0
  #window = { sinceMs: -Infinity, bytes: 0 }
  #lastBusyMs = -Infinity
  #check: NodeJS.Timeout | undefined

  /** `busyBytes` a second start the thread. */
  constructor(report: (line: string) => void, { busyBytes = BUSY_BYTES_A_SECOND } = {}) {
    this.#report = report
    this.#busyBytes = busyBytes
  }

  /** Whether another thread reads spans. */
  get isRunning(): boolean {
    return this.#isReady
  }

  /** How many requests it has. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Ends the thread as a crash would. */
  async kill(): Promise<void> {
    await this.#worker?.terminate()
  }

  async encode(request: TraceRequest, context: ThreadContext): Promise<Encoding> {
    this.#note(request.body.length)
    const { project, body, format, isRewrite } = request
    const worker = this.#worker
    const isWanted = body.length >= BODY_BYTES.least && body.length <= BODY_BYTES.most
    // Viewers get every step, and a copy of each would cost as much as reading it.
    if (worker === undefined || !this.#isReady || !isWanted || context.live.isKept()) return { unread: body }
    if (this.#waiting.size >= MAX_QUEUE) return { unread: body }
    const { revision, overrides } = context.pricerOf(project)
    const arrivals = Math.ceil(body.length / LEAST_SPAN_BYTES)
    const pieces = body.pieces.length > MAX_PIECES ? [body.whole()] : body.pieces
    const owned = pieces.map(ownMemory)
    const message: ThreadMessage = {
      id: ++this.#jobs,
      project,
      body: owned,
      format,
      isRewrite,
      receivedAtMs: Date.now(),
      revision,
      firstArrival: context.reserveArrivals(arrivals),
      arrivals,
      spare: this.#spare.pop(),
      ...(this.#prices.get(project) !== revision && { overrides }),
    }
    this.#prices.set(project, revision)
    const transferred = message.spare === undefined ? owned : [...owned, message.spare]
    return new Promise((resolve, reject) => {
      this.#waiting.set(message.id, { resolve, reject })
      worker.postMessage(message, transferred)
    })
  }

  reuse({ memory }: EncodedSpans): void {
    if (this.#spare.length < MAX_SPARE && memory.byteLength <= MAX_SPARE_BYTES) this.#spare.push(memory)
  }

  async close(): Promise<void> {
    const worker = this.#forget()
    for (const { reject } of this.#waiting.values())
      reject(new KnownError('STORE_UNAVAILABLE', 'The server is stopping.'))
    this.#waiting.clear()
    this.#retryAtMs = Infinity
    await worker?.terminate()
  }

  #note(bytes: number): void {
    const nowMs = performance.now()
    const { sinceMs } = this.#window
    this.#window.bytes += bytes
    if (nowMs - sinceMs < WINDOW_MS) return
    const perSecond = (this.#window.bytes * 1_000) / Math.min(nowMs - sinceMs, 10 * WINDOW_MS)
    this.#window = { sinceMs: nowMs, bytes: 0 }
    if (perSecond < this.#busyBytes) return
    this.#lastBusyMs = nowMs
    if (this.#worker === undefined && nowMs >= this.#retryAtMs) this.#start()
  }

  #start(): void {
    const worker = new Worker(
      new URL(`./thread-main.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url),
      { name: 'ingest', resourceLimits: THREAD_MEMORY },
    )
    this.#worker = worker
    worker.unref()
    worker.on('message', (reply: ThreadReply) => this.#receive(reply))
    worker.on('error', (error) => this.#end(worker, error))
    worker.on('exit', (code) => this.#end(worker, new Error(`it exited with code ${code}`)))
    this.#check = setInterval(() => {
      if (performance.now() - this.#lastBusyMs < QUIET_MS || this.#waiting.size > 0) return
      void this.#forget()?.terminate()
    }, CHECK_MS)
    this.#check.unref()
  }

  #receive(reply: ThreadReply): void {
    if ('ready' in reply) return void (this.#isReady = true)
    const waiting = this.#waiting.get(reply.id)
    this.#waiting.delete(reply.id)
    waiting?.resolve(
      'body' in reply
        ? { unread: new ReceivedBody(reply.body.map((piece) => Buffer.from(piece))) }
        : { encoded: toEncoded(reply) },
    )
  }

  /** The requests that it had are lost. None of them was acknowledged, so their senders try again. */
  #end(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return
    this.#forget()
    this.#retryAtMs = performance.now() + RESTART_MS
    this.#report(
      `The thread that reads spans ended (${error.message}). The server reads them without it for a while.`,
    )
    const refusal = new KnownError('STORE_UNAVAILABLE', 'The server could not read the spans. Try again.', {
      cause: error,
    })
    for (const { reject } of this.#waiting.values()) reject(refusal)
    this.#waiting.clear()
  }

  #forget(): Worker | undefined {
    const worker = this.#worker
    clearInterval(this.#check)
    this.#worker = undefined
    this.#isReady = false
    this.#prices.clear()
    this.#spare.length = 0
    return worker
  }
}

/** The memory of a piece, which is sent away. A small piece shares its memory with others, and is copied. */
function ownMemory(piece: Buffer): ArrayBuffer {
  const { buffer, byteOffset, byteLength } = piece
  const isAlone = buffer instanceof ArrayBuffer && byteOffset === 0 && byteLength === buffer.byteLength
  return isAlone ? buffer : Uint8Array.prototype.slice.call(piece).buffer
}

function toEncoded(result: EncodeResult): EncodedSpans {
  const { memory, rows, columns, rowBytes, traceIds, outlines, rejected, failures } = result
  let start = rowBytes
  const parts = result.parts.map(({ sessionId, rows: count, bytes }): FreshPart => {
    const part = { sessionId, rows: count, bytes: Buffer.from(memory, start, bytes) }
    start += bytes
    return part
  })
  const block = new EncodedRows({ rows, columns, contents: Buffer.from(memory, 0, rowBytes) })
  return { block, parts, traceIds, outlines, rejected, failures, memory }
}
