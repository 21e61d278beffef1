import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  SPANS_PER_REQUEST,
  type BodyFormat,
  type Parcel,
  type RequestBodies,
} from '../corpus/request-bodies.ts'

export type LoadResult = {
  seconds: number
  acknowledgedSpans: number
  /** Requests that were not acknowledged, for any reason. */
  failures: number
  /** Milliseconds from when a request was due to its acknowledgement. */
  latencies: number[]
  /** Some of the acknowledged sessions, to check later. */
  sampleIds: string[]
}

export type Load = {
  url: string
  bodies: RequestBodies
  format: BodyFormat
  connections: number
  seconds: number
  /** Additional headers of each request. */
  headers?: Record<string, string>
  /** The result names one session of every this many requests. */
  sampledEvery?: number
  onProgress: (share: number, result: LoadResult) => void
}

const PAUSE_AFTER_REFUSAL_MS = 100
const SAMPLED_EVERY = 200

/** Every connection sends its next request as soon as the previous one is acknowledged. */
export async function saturate(load: Load): Promise<LoadResult> {
  const run = new LoadRun(load)
  const connection = async () => {
    while (run.elapsedMs() < load.seconds * 1_000) {
      const isAcknowledged = await run.send(performance.now())
      if (!isAcknowledged) await sleep(PAUSE_AFTER_REFUSAL_MS)
    }
  }
  await Promise.all(Array.from({ length: load.connections }, connection))
  return run.finish()
}

/**
 * Sends requests at fixed times, whether or not the previous ones are acknowledged. Latency counts from the time a request was
 * due, so that a server that stalls is charged for all requests that had to wait.
 */
export async function sendAtRate(load: Load & { spansPerSecond: number }): Promise<LoadResult> {
  const run = new LoadRun(load)
  const intervalMs = (1_000 * SPANS_PER_REQUEST) / load.spansPerSecond
  const total = Math.floor((load.seconds * 1_000) / intervalMs)
  const pending = new Set<Promise<unknown>>()
  for (let sent = 0; sent < total;) {
    for (; sent < total && sent * intervalMs <= run.elapsedMs(); sent++) {
      const sending = run.send(run.startedAtMs + sent * intervalMs).finally(() => pending.delete(sending))
      pending.add(sending)
    }
    await sleep(Math.max(0, sent * intervalMs - run.elapsedMs()))
  }
  await Promise.all(pending)
  return run.finish()
}

/** Like `saturate`, but ends when this many spans are acknowledged, or when the time is up. */
export async function sendSpans(load: Load & { spans: number }): Promise<LoadResult> {
  const run = new LoadRun(load)
  let claimed = 0
  const connection = async () => {
    while (claimed < load.spans && run.elapsedMs() < load.seconds * 1_000) {
      claimed += SPANS_PER_REQUEST
      const isAcknowledged = await run.send(performance.now())
      if (isAcknowledged) continue
      claimed -= SPANS_PER_REQUEST
      await sleep(PAUSE_AFTER_REFUSAL_MS)
    }
  }
  await Promise.all(Array.from({ length: load.connections }, connection))
  return run.finish()
}

class LoadRun {
  readonly startedAtMs = performance.now()
  readonly #load: Load
  readonly #agent: Agent
  readonly #waiting: ((parcel: Parcel) => void)[] = []
  readonly #result: LoadResult = {
    seconds: 0,
    acknowledgedSpans: 0,
    failures: 0,
    latencies: [],
    sampleIds: [],
  }

  constructor(load: Load) {
    this.#load = load
    this.#agent = new Agent({ keepAlive: true, maxSockets: load.connections })
  }

  elapsedMs(): number {
    return performance.now() - this.startedAtMs
  }

  async send(dueAtMs: number): Promise<boolean> {
    const result = this.#result
    const parcel = this.#load.bodies.next() ?? (await this.#waitForParcel())
    const isAcknowledged = await this.#post(parcel)
    if (isAcknowledged) {
      result.acknowledgedSpans += SPANS_PER_REQUEST
      result.latencies.push(performance.now() - dueAtMs)
      if (result.latencies.length % (this.#load.sampledEvery ?? SAMPLED_EVERY) === 0)
        result.sampleIds.push(parcel.sessionIds()[0]!)
    } else result.failures += 1
    this.#giveBack(parcel)
    result.seconds = this.elapsedMs() / 1_000
    this.#load.onProgress(Math.min(1, result.seconds / this.#load.seconds), result)
    return isAcknowledged
  }

  finish(): LoadResult {
    this.#agent.destroy()
    this.#result.seconds = this.elapsedMs() / 1_000
    return this.#result
  }

  #waitForParcel(): Promise<Parcel> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #giveBack(parcel: Parcel): void {
    parcel.release()
    const next = this.#waiting.shift()
    if (next !== undefined) next(this.#load.bodies.next()!)
  }

  #post({ bytes }: Parcel): Promise<boolean> {
    const contentType = this.#load.format === 'protobuf' ? 'application/x-protobuf' : 'application/json'
    const headers = { 'content-type': contentType, ...this.#load.headers }
    return postSpans(this.#load.url, bytes, { agent: this.#agent, headers })
  }
}

/** Whether the spans were acknowledged. */
export function postSpans(
  url: string,
  bytes: Buffer,
  { agent, headers }: { agent: Agent; headers: Record<string, string> },
): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = request(
      `${url}/v1/traces`,
      { method: 'POST', agent, headers: { ...headers, 'content-length': bytes.length } },
      (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode === 200))
        response.on('error', () => resolve(false))
      },
    )
    sent.on('error', () => resolve(false))
    sent.end(bytes)
  })
}
