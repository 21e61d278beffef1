import type { Reporter } from '../record/session/reporter.ts'
import type { RecordedSpan } from '../record/opentelemetry/recorded-span.ts'
import type { SessionRecord } from '../record/session/session-record.ts'
import { explainTrouble, sendBatch, type SendOutcome, type Target } from './send-batch.ts'
import type { OutgoingValues } from '../record/opentelemetry/outgoing-values.ts'
import { retryDelayMs } from './retry-delay.ts'
import { Spool } from './spool.ts'
import { splitBatch, StepQueue, type Batch } from './step-queue.ts'

/** How soon what was recorded is sent, while the server answers and while it does not. */
const SEND_AFTER_MS = 300
const ANNOUNCE_AFTER_MS = 30
const SET_ASIDE_AFTER_MS = 5000
const LOOK_AT_SPOOL_AFTER_MS = 100
const STEPS_PER_REQUEST = 512
/** Steps in memory when there is no disk to put them on. */
const MAX_QUEUED_STEPS = 8192
/** Failures in a row before the server counts as gone. */
const PATIENCE = 3

export type DeliveryCounts = {
  recorded: number
  delivered: number
  spooled: number
  dropped: number
  rejected: number
  failedRequests: number
}

export type DeliveryOptions = {
  outgoing: () => OutgoingValues
  reporter: Reporter
  /** Runs a callback outside of whatever the host is doing. */
  outside: (callback: () => void) => void
  onFault: (error: unknown) => void
}

/** Brings steps to the server: in batches, again when that fails, by way of the disk when it goes on failing. */
export class Delivery {
  readonly counts: DeliveryCounts = {
    recorded: 0,
    delivered: 0,
    spooled: 0,
    dropped: 0,
    rejected: 0,
    failedRequests: 0,
  }
  readonly #options: DeliveryOptions
  readonly #queue = new StepQueue()
  #target: Target | undefined
  #spool: Spool | undefined
  /** Taken from the queue and not yet acknowledged. */
  #unsent: Batch | undefined
  #failures = 0
  /** The server does not answer: what comes goes to disk until it does. */
  #isDown = false
  #mayBeSpooled = false
  /** Before this the server is left in peace. */
  #notBeforeMs = 0
  #timer: NodeJS.Timeout | undefined
  #timerAtMs = 0
  #work: Promise<void> | undefined

  constructor(options: DeliveryOptions) {
    this.#options = options
  }

  configure(target: Target | undefined, spoolRoot: string | undefined): void {
    this.#target = target
    this.#failures = 0
    this.#isDown = false
    this.#spool = undefined
    if (target === undefined || spoolRoot === undefined) return
    this.#spool = new Spool(spoolRoot, target, (stepCount) => (this.counts.dropped += stepCount))
    this.#mayBeSpooled = true
    this.#schedule(LOOK_AT_SPOOL_AFTER_MS)
  }

  get target(): Target | undefined {
    return this.#target
  }

  get state(): 'off' | 'up' | 'down' {
    if (this.#target === undefined) return 'off'
    return this.#failures > 0 || this.#isDown ? 'down' : 'up'
  }

  get queuedCount(): number {
    return this.#queue.endedCount + (this.#unsent?.stepCount ?? 0)
  }

  get hasWork(): boolean {
    return !this.#queue.isEmpty || this.#unsent !== undefined
  }

  onStepStart(): void {
    // Short steps are sent once, when they have ended.
  }

  onStepEnd(span: RecordedSpan, record: SessionRecord): void {
    this.counts.recorded += 1
    if (this.#target === undefined) return
    this.#queue.addEnded(span)
    record.lastSentAtMs = Date.now()
    this.#afterAdding()
  }

  /** Tells the server of a step that is still running. */
  announce(span: RecordedSpan, record: SessionRecord): void {
    if (this.#target === undefined) return
    this.#queue.addRunning(span)
    record.lastSentAtMs = Date.now()
    if (!this.#isDown) this.#schedule(this.#patienceMs(ANNOUNCE_AFTER_MS))
  }

  /** Sends what there is without waiting for more. */
  sendSoon(): void {
    if (this.hasWork) this.#schedule(this.#patienceMs(0))
  }

  /** Sends everything now; true when the server has it all. Takes at most so long. */
  async flush(timeoutMs: number): Promise<boolean> {
    if (this.#target === undefined || !(this.hasWork || this.#mayBeSpooled)) return true
    // Nothing else keeps the process alive, and whoever waits for us must get an answer.
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs)
    })
    await Promise.race([this.#workNow(), timeout])
    clearTimeout(timer)
    return !this.hasWork && !this.#isDown
  }

  /** What the server has not acknowledged, encoded, for the end of the process. It is not kept here any longer. */
  takeAll(): Batch[] {
    const batches = this.#unsent === undefined ? [] : [this.#unsent]
    this.#unsent = undefined
    for (;;) {
      const batch = this.#queue.take(this.#options.outgoing())
      if (batch === undefined) return batches
      batches.push(batch)
    }
  }

  /** Puts a batch on disk at once; undefined when there is no disk to put it on. */
  spoolSync(batch: Batch): string | undefined {
    const path = this.#spool?.writeSync(batch.text, batch.stepCount)
    if (path !== undefined) this.counts.spooled += batch.stepCount
    return path
  }

  #afterAdding(): void {
    const isFull = this.#queue.endedCount >= STEPS_PER_REQUEST
    if (this.#spool === undefined && this.#queue.endedCount > MAX_QUEUED_STEPS)
      this.counts.dropped += this.#queue.drop(STEPS_PER_REQUEST)
    if (this.#timer !== undefined && !isFull) return
    if (this.#isDown) this.#schedule(isFull ? 0 : SET_ASIDE_AFTER_MS)
    else this.#schedule(this.#patienceMs(isFull ? 0 : SEND_AFTER_MS))
  }

  /** A server that asked for patience gets it. */
  #patienceMs(afterMs: number): number {
    return this.#failures === 0 ? afterMs : Math.max(afterMs, this.#notBeforeMs - performance.now())
  }

  /** Only ever sooner, never later, than what is already planned. */
  #schedule(afterMs: number): void {
    const atMs = performance.now() + afterMs
    if (this.#work !== undefined || (this.#timer !== undefined && this.#timerAtMs <= atMs)) return
    clearTimeout(this.#timer)
    this.#timerAtMs = atMs
    this.#options.outside(() => {
      this.#timer = setTimeout(() => {
        this.#timer = undefined
        void this.#startWork(false)
      }, afterMs)
      this.#timer.unref()
    })
  }

  async #workNow(): Promise<void> {
    await this.#work
    let work: Promise<void> | undefined
    this.#options.outside(() => {
      work = this.#startWork(true)
    })
    await work
  }

  #startWork(isForced: boolean): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#work ??= this.#deliver(isForced)
      .catch(this.#options.onFault)
      .then((afterMs) => {
        this.#work = undefined
        if (typeof afterMs === 'number') this.#schedule(afterMs)
        else if (!this.#queue.isEmpty) this.#schedule(SEND_AFTER_MS)
      })
    return this.#work
  }

  /** Works until nothing is left or something fails; answers with how long to wait before the next try. */
  async #deliver(isForced: boolean): Promise<number | undefined> {
    const target = this.#target
    if (target === undefined) return undefined
    if (this.#isDown && !isForced) {
      await this.#setAsideAll()
      const patienceMs = this.#notBeforeMs - performance.now()
      return patienceMs > 0 && this.#spool !== undefined ? patienceMs : this.#sendSpooled(target)
    }
    for (;;) {
      this.#unsent ??= this.#queue.take(this.#options.outgoing())
      if (this.#unsent === undefined) break
      const waitMs = await this.#sendOne(this.#unsent, target, isForced)
      if (waitMs !== undefined) return waitMs
    }
    return this.#mayBeSpooled ? this.#sendSpooled(target) : undefined
  }

  async #sendOne(batch: Batch, target: Target, isForced: boolean): Promise<number | undefined> {
    const outcome = await sendBatch(batch.text, target)
    // The end of the process may have taken it meanwhile.
    if (this.#unsent !== batch) return undefined
    if (outcome.kind === 'too-large') return this.#sendInParts(batch, target, isForced)
    if (this.#settle(outcome, batch.stepCount)) {
      this.#unsent = undefined
      return undefined
    }
    const waitMs = this.#noteFailure(outcome, target)
    const isPatient = this.#failures < PATIENCE && outcome.kind === 'later' && outcome.isServerThere
    if (isPatient && !isForced) return waitMs
    this.#isDown = true
    await this.#setAside(batch)
    if (this.#spool !== undefined) await this.#setAsideAll()
    return waitMs
  }

  async #sendInParts(batch: Batch, target: Target, isForced: boolean): Promise<number | undefined> {
    const parts = splitBatch(batch, this.#options.outgoing())
    this.#unsent = undefined
    if (parts === undefined) {
      this.counts.dropped += batch.stepCount
      this.#options.reporter.once('too-large', 'A step was larger than the server takes, and was left out.')
      return undefined
    }
    for (const part of parts) {
      this.#unsent = part
      const waitMs = await this.#sendOne(part, target, isForced)
      if (waitMs !== undefined) return waitMs
    }
    return undefined
  }

  /** True when nothing more can be done for the batch: it was taken, or it never will be. */
  #settle(outcome: SendOutcome, stepCount: number): boolean {
    if (outcome.kind === 'accepted') {
      this.#failures = 0
      this.#isDown = false
      this.counts.delivered += stepCount - outcome.rejectedSteps
      this.counts.rejected += outcome.rejectedSteps
      if (outcome.rejectedSteps > 0)
        this.#options.reporter.once(
          'rejected',
          `The server left out ${outcome.rejectedSteps} steps: ${outcome.message}`,
        )
      return true
    }
    if (outcome.kind !== 'unreadable' && outcome.kind !== 'too-large') return false
    this.counts.failedRequests += 1
    this.counts.rejected += stepCount
    this.#options.reporter.once(
      'unreadable',
      `The server could not read ${stepCount} steps: ${outcome.reason}`,
    )
    return true
  }

  #noteFailure(outcome: SendOutcome, target: Target): number {
    this.#failures += 1
    this.counts.failedRequests += 1
    const line = explainTrouble(outcome, target, this.#spool !== undefined)
    if (line !== undefined) this.#options.reporter.once('unreachable', line)
    const askedMs = outcome.kind === 'later' ? outcome.afterMs : undefined
    const waitMs = retryDelayMs(this.#failures, askedMs, Math.random())
    this.#notBeforeMs = performance.now() + waitMs
    return waitMs
  }

  async #setAsideAll(): Promise<void> {
    while (this.#spool !== undefined) {
      this.#unsent ??= this.#queue.take(this.#options.outgoing())
      if (this.#unsent === undefined) return
      await this.#setAside(this.#unsent)
    }
  }

  async #setAside(batch: Batch): Promise<void> {
    if (this.#spool === undefined) return
    try {
      await this.#spool.write(batch.text, batch.stepCount)
      this.counts.spooled += batch.stepCount
      this.#mayBeSpooled = true
      if (this.#unsent === batch) this.#unsent = undefined
    } catch (error) {
      this.#spool = undefined
      const { message } = error as Error
      this.#options.reporter.once(
        'spool',
        `What can't be sent stays in memory, because it can't be put on disk: ${message}`,
      )
    }
  }

  /** Sends what waits on disk, from this process and from earlier ones. */
  async #sendSpooled(target: Target): Promise<number | undefined> {
    const spool = this.#spool
    for (;;) {
      const batch = await spool?.take().catch(() => undefined)
      if (spool === undefined || batch === undefined) break
      const outcome = await sendBatch(batch.text, target)
      if (!this.#settle(outcome, batch.stepCount)) {
        await spool.giveBack(batch)
        this.#isDown = true
        return this.#noteFailure(outcome, target)
      }
      await spool.remove(batch)
    }
    this.#mayBeSpooled = false
    this.#isDown = false
    return undefined
  }
}
