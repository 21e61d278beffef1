import type { RecordedSpan } from '../record/opentelemetry/recorded-span.ts'
import type { Recorder } from '../record/session/recorder.ts'
import type { SessionRecord } from '../record/session/session-record.ts'
import type { StepListener } from '../record/session/span-processor.ts'
import { summarizeError } from '../record/value/describe-error.ts'
import { readField, toName } from '../record/value/host-value.ts'
import { retryDelayMs } from './retry-delay.ts'
import { explainFailure, sendBatch, type SendOutcome, type Target } from './send-batch.ts'
import { PROTOBUF } from './payload.ts'
import { Spool } from './spool.ts'
import { StepQueue, type Batch } from './step-queue.ts'
import { trueNowMs } from '../record/opentelemetry/clock.ts'
import { WorkLoop } from './work-loop.ts'

const SEND_AFTER_MS = 300
const ANNOUNCE_AFTER_MS = 30
/**
 * The end of a session is sent at once. A process that ends many at a time sends them together: a request costs as much
 * as recording fifty steps.
 */
const SESSION_END_INTERVAL_MS = 50
const CHECK_SPOOL_AFTER_MS = 100
/** While the server is down, steps are collected for so long before they are spooled. */
const SPOOL_AFTER_MS = 5000
const STEPS_PER_REQUEST = 512
/** The memory that queued steps may take; the oldest are dropped. It fills up while the event loop is blocked. */
const MAX_QUEUED_BYTES = 64 * 1024 * 1024
/** Applies only if steps can't be spooled. */
const MAX_QUEUED_STEPS = 8192
/** Failures in a row before a server that still responds counts as down. */
const MAX_FAILURES = 3

export const noCounts = { recorded: 0, delivered: 0, spooled: 0, dropped: 0, rejected: 0, failedRequests: 0 }

/** What the delivery uses of the recorder. */
type Source = Pick<Recorder, 'sanitizer' | 'reporter' | 'scope' | 'fault'>

/** Sends steps to the server in batches, retries, and spools to disk while the server is down. */
export class Delivery implements StepListener {
  readonly counts = { ...noCounts }
  readonly #source: Source
  readonly #queue = new StepQueue()
  readonly #loop: WorkLoop
  #target: Target | undefined
  #spool: Spool | undefined
  /** Taken from the queue and not yet acknowledged. */
  #inFlight: Batch | undefined
  /** When something that is queued must be sent; infinite while nothing is, or a timer is running for it. */
  #dueAtMs = Infinity
  /** When the last request was sent. */
  #requestedAtMs = -Infinity
  #failures = 0
  /** While it is set, new steps go to the spool. */
  #isDown = false
  #maySpoolHold = false
  #retryAtMs = 0
  /** The steps that were lost before the last `flush` that said so. */
  #reportedLosses = 0

  constructor(source: Source) {
    this.#source = source
    this.#loop = new WorkLoop(source, {
      work: (isForced) => this.#deliver(isForced),
      nextDelayMs: () => this.#nextDelayMs(),
    })
  }

  configure(target: Target | undefined, spoolRoot: string | undefined): void {
    this.#target = target
    this.#failures = 0
    this.#isDown = false
    this.#spool = undefined
    if (target === undefined || spoolRoot === undefined) return
    this.#spool = new Spool(spoolRoot, target, (stepCount) => (this.counts.dropped += stepCount))
    this.#maySpoolHold = true
    this.#loop.schedule(CHECK_SPOOL_AFTER_MS)
  }

  get target(): Target | undefined {
    return this.#target
  }

  get state(): 'off' | 'up' | 'down' {
    if (this.#target === undefined) return 'off'
    return this.#failures > 0 || this.#isDown ? 'down' : 'up'
  }

  get queuedCount(): number {
    return this.#queue.endedCount + (this.#inFlight?.stepCount ?? 0)
  }

  get hasWork(): boolean {
    return !this.#queue.isEmpty || this.#inFlight !== undefined
  }

  onStepEnd(span: RecordedSpan, record: SessionRecord, byteCount: number): void {
    this.counts.recorded += 1
    if (this.#target === undefined) return
    this.#queue.addEnded(span, byteCount)
    record.lastSentAtMs = trueNowMs()
    this.#scheduleQueued()
  }

  /** Sends without waiting for more steps. */
  onSessionEnd(): void {
    if (!this.hasWork) return
    this.#sendWithin(Math.max(0, this.#requestedAtMs + SESSION_END_INTERVAL_MS - performance.now()))
  }

  /** Tells the server about a step that is still running. */
  announce(span: RecordedSpan, record: SessionRecord): void {
    if (this.#target === undefined) return
    this.#queue.addRunning(span)
    record.lastSentAtMs = trueNowMs()
    if (!this.#isDown) this.#sendWithin(ANNOUNCE_AFTER_MS)
  }

  /** Sends everything now. Returns true if the server has all that was recorded since the last call. */
  async flush(timeoutMs: number): Promise<boolean> {
    if (this.#target === undefined) return true
    const reported = this.#reportedLosses
    const isSent = await this.#sendAll(timeoutMs)
    this.#reportedLosses = this.counts.dropped + this.counts.rejected
    return isSent && this.#reportedLosses === reported
  }

  async #sendAll(timeoutMs: number): Promise<boolean> {
    if (!(this.hasWork || this.#maySpoolHold)) return true
    // This timer is not unreferenced: nothing else keeps the process alive for whoever awaits us.
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs)
    })
    await Promise.race([this.#loop.runNow(), timeout])
    clearTimeout(timer)
    return !this.hasWork && !this.#isDown && !this.#maySpoolHold
  }

  /** Removes everything that the server has not acknowledged, one batch at a time, for the end of the process. */
  *takeAll(): Generator<Batch, void> {
    const inFlight = this.#inFlight
    this.#inFlight = undefined
    if (inFlight !== undefined) yield inFlight
    for (let batch = this.#take(); batch !== undefined; batch = this.#take()) yield batch
  }

  /** Returns the path, or undefined if the batch could not be spooled. */
  spoolSync(batch: Batch): string | undefined {
    try {
      const path = this.#spool?.writeSync(batch.bytes, batch.stepCount)
      if (path !== undefined) this.counts.spooled += batch.stepCount
      return path
    } catch {
      return undefined
    }
  }

  #scheduleQueued(): void {
    const isFull = this.#queue.endedCount >= STEPS_PER_REQUEST
    if (this.#queue.byteCount > MAX_QUEUED_BYTES || this.#queue.endedCount > MAX_QUEUED_STEPS)
      this.#limitQueue()
    if (!isFull && (this.#loop.isScheduled || this.#dueAtMs < Infinity)) return
    if (this.#isDown) this.#loop.schedule(isFull ? 0 : SPOOL_AFTER_MS)
    else this.#sendWithin(isFull ? 0 : SEND_AFTER_MS)
  }

  /** While a request is under way nothing can be scheduled; then `#dueAtMs` says when the next one is sent. */
  #sendWithin(delayMs: number): void {
    this.#dueAtMs = Math.min(this.#dueAtMs, performance.now() + delayMs)
    this.#loop.schedule(this.#withBackoff(delayMs))
  }

  #nextDelayMs(): number | undefined {
    if (this.#queue.isEmpty) return undefined
    return Math.min(SEND_AFTER_MS, Math.max(0, this.#dueAtMs - performance.now()))
  }

  #limitQueue(): void {
    const maxSteps = this.#spool === undefined ? MAX_QUEUED_STEPS : Infinity
    const droppedCount = this.#queue.dropBeyond({ maxSteps, maxBytes: MAX_QUEUED_BYTES })
    if (droppedCount === 0) return
    this.counts.dropped += droppedCount
    this.#source.reporter.once(
      'queue',
      'Steps are recorded faster than they can be sent or spooled, so the oldest are dropped. stats().dropped counts them.',
    )
  }

  /** The next batch. Steps that can't be encoded are dropped, and the first one is named. */
  #take(): Batch | undefined {
    for (;;) {
      const batch = this.#queue.take(this.#source.sanitizer)
      if (batch !== undefined && batch.failed.length > 0) this.#reportFailed(batch.failed)
      if (batch === undefined || batch.spans.length > 0) return batch
    }
  }

  #reportFailed(failed: Batch['failed']): void {
    this.counts.dropped += failed.filter(({ span }) => span.ended).length
    const { span, error } = failed[0]!
    this.#source.reporter.once(
      'encode',
      `Dropped the step "${toName(readField(span, 'name')) ?? ''}", because it can't be encoded: ${summarizeError(error)}. Other steps are not affected; stats().dropped counts them.`,
    )
  }

  #withBackoff(delayMs: number): number {
    return this.#failures === 0 ? delayMs : Math.max(delayMs, this.#retryAtMs - performance.now())
  }

  /** Sends what is due, or everything, until a request fails. Returns the delay before the next attempt. */
  async #deliver(isForced: boolean): Promise<number | undefined> {
    const target = this.#target
    this.#dueAtMs = Infinity
    if (target === undefined) return undefined
    if (this.#isDown && !isForced) {
      await this.#spoolQueue()
      const remainingMs = this.#retryAtMs - performance.now()
      return remainingMs > 0 && this.#spool !== undefined ? remainingMs : this.#sendSpooled(target)
    }
    for (;;) {
      this.#inFlight ??= this.#take()
      if (this.#inFlight === undefined) break
      this.#dueAtMs = this.#queue.isEmpty ? Infinity : performance.now() + SESSION_END_INTERVAL_MS
      const retryMs = await this.#send(this.#inFlight, target, isForced)
      if (retryMs !== undefined) return retryMs
      if (!isForced && !this.#isMoreDue()) break
    }
    return this.#maySpoolHold ? this.#sendSpooled(target) : undefined
  }

  #isMoreDue(): boolean {
    return (
      this.#queue.hasParts ||
      this.#queue.endedCount >= STEPS_PER_REQUEST ||
      this.#dueAtMs <= performance.now()
    )
  }

  async #send(batch: Batch, target: Target, isForced: boolean): Promise<number | undefined> {
    this.#requestedAtMs = performance.now()
    const outcome = await sendBatch({ bytes: batch.bytes, contentType: PROTOBUF }, target)
    // Meanwhile `takeAll` may have taken it.
    if (this.#inFlight !== batch) return undefined
    if (outcome.kind === 'too-large') {
      this.#split(batch)
      return undefined
    }
    if (this.#isDone(outcome, batch.stepCount)) {
      this.#inFlight = undefined
      return undefined
    }
    const retryMs = this.#countFailure(outcome, target)
    const mayRecover = this.#failures < MAX_FAILURES && outcome.kind === 'retry' && outcome.isServerThere
    if (mayRecover && !isForced) return retryMs
    this.#isDown = true
    await this.#spoolBatch(batch)
    await this.#spoolQueue()
    return retryMs
  }

  #split(batch: Batch): void {
    this.#inFlight = undefined
    if (this.#queue.putBackInHalves(batch)) return
    this.counts.dropped += batch.stepCount
    this.#source.reporter.once('too-large', 'Dropped a step that is larger than the server accepts.')
  }

  /** Counts the outcome. Returns false if the batch must be sent again. */
  #isDone(outcome: SendOutcome, stepCount: number): boolean {
    if (outcome.kind === 'accepted') {
      this.#failures = 0
      this.#isDown = false
      const rejectedCount = Math.min(outcome.rejectedSteps, stepCount)
      this.counts.delivered += stepCount - rejectedCount
      this.counts.rejected += rejectedCount
      if (rejectedCount > 0)
        this.#source.reporter.once(
          'rejected',
          `The server rejected ${rejectedCount} steps: ${outcome.message}`,
        )
      else if (outcome.message !== '')
        this.#source.reporter.once('warning', `The server accepted the steps and says: ${outcome.message}`)
      return true
    }
    if (outcome.kind !== 'invalid' && outcome.kind !== 'too-large') return false
    this.counts.failedRequests += 1
    this.counts.rejected += stepCount
    this.#source.reporter.once('invalid', `The server could not read ${stepCount} steps: ${outcome.reason}`)
    return true
  }

  #countFailure(outcome: SendOutcome, target: Target): number {
    this.#failures += 1
    this.counts.failedRequests += 1
    const explanation = explainFailure(outcome, target, this.#spool !== undefined)
    if (explanation !== undefined) this.#source.reporter.once('unreachable', explanation)
    const retryAfterMs = outcome.kind === 'retry' ? outcome.retryAfterMs : undefined
    const delayMs = retryDelayMs(this.#failures, retryAfterMs, Math.random())
    this.#retryAtMs = performance.now() + delayMs
    return delayMs
  }

  async #spoolQueue(): Promise<void> {
    while (this.#spool !== undefined) {
      this.#inFlight ??= this.#take()
      if (this.#inFlight === undefined) return
      await this.#spoolBatch(this.#inFlight)
    }
  }

  async #spoolBatch(batch: Batch): Promise<void> {
    if (this.#spool === undefined) return
    try {
      if (await this.#spool.write(batch.bytes, batch.stepCount)) {
        this.counts.spooled += batch.stepCount
        this.#maySpoolHold = true
      }
      if (this.#inFlight === batch) this.#inFlight = undefined
    } catch (error) {
      this.#spool = undefined
      const { message } = error as Error
      this.#source.reporter.once(
        'spool',
        `Can't spool to disk, so undelivered steps stay in memory: ${message}`,
      )
    }
  }

  /** Sends what is on disk, from this process and from earlier ones. */
  async #sendSpooled(target: Target): Promise<number | undefined> {
    const spool = this.#spool
    for (;;) {
      const batch = await spool?.claim().catch(() => undefined)
      if (spool === undefined || batch === undefined) break
      const outcome = await sendBatch(batch, target)
      if (!this.#isDone(outcome, batch.stepCount)) {
        await spool.release(batch)
        this.#isDown = true
        return this.#countFailure(outcome, target)
      }
      await spool.remove(batch)
    }
    this.#maySpoolHold = false
    this.#isDown = false
    return undefined
  }
}
