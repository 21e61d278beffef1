import { trueNowMs, hrTimeToMs } from '../record/opentelemetry/clock.ts'
import type { Recorder } from '../record/session/recorder.ts'
import type { Delivery } from './delivery.ts'

/** Shorter steps are sent once, when they have ended. */
const ANNOUNCE_AFTER_MS = 200
const POLL_MS = 100
const IDLE_POLL_MS = 5000
/** The server treats a session as lost after two minutes of silence. */
const HEARTBEAT_MS = 30_000

/**
 * Announces running steps to the server, and sends heartbeats for long sessions. It polls the open steps, because
 * maintaining a list of its own would cost more than recording a step.
 */
export class RunningSteps {
  readonly #source: Pick<Recorder, 'store' | 'scope'>
  readonly #delivery: Pick<Delivery, 'announce'>
  #timer: NodeJS.Timeout | undefined
  #isPollingOften = false

  constructor(source: Pick<Recorder, 'store' | 'scope'>, delivery: Pick<Delivery, 'announce'>) {
    this.#source = source
    this.#delivery = delivery
  }

  onStepStart(): void {
    if (!this.#isPollingOften) this.#schedulePoll(POLL_MS)
  }

  /** Announces the steps that have run for at least so long. Returns whether younger ones are left, and any at all. */
  announce(olderThanMs = ANNOUNCE_AFTER_MS): { isAnyYoung: boolean; isAnyOpen: boolean } {
    const nowMs = trueNowMs()
    let isAnyYoung = false
    let isAnyOpen = false
    for (const record of this.#source.store.openRecords()) {
      for (const [id, span] of record.open) {
        isAnyOpen = true
        if (record.announced.has(id)) continue
        if (nowMs - hrTimeToMs(span.startTime) < olderThanMs) isAnyYoung = true
        else {
          record.announced.add(id)
          this.#delivery.announce(span, record)
        }
      }
    }
    return { isAnyYoung, isAnyOpen }
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#isPollingOften = false
  }

  #poll(): void {
    const { isAnyYoung, isAnyOpen } = this.announce()
    this.#sendHeartbeats()
    if (isAnyYoung) this.#schedulePoll(POLL_MS)
    else if (isAnyOpen) this.#schedulePoll(IDLE_POLL_MS)
    else this.stop()
  }

  /** Sends an open step again for every session that has been silent. */
  #sendHeartbeats(): void {
    const nowMs = trueNowMs()
    for (const record of this.#source.store.openRecords()) {
      if (nowMs - record.lastSentAtMs < HEARTBEAT_MS) continue
      const [oldest] = record.open.values()
      if (oldest !== undefined) this.#delivery.announce(oldest, record)
    }
  }

  #schedulePoll(afterMs: number): void {
    clearTimeout(this.#timer)
    this.#isPollingOften = afterMs === POLL_MS
    this.#source.scope.detach(() => {
      this.#timer = setTimeout(() => this.#poll(), afterMs)
      this.#timer.unref()
    })
  }
}
