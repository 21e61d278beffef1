import { hrTimeToMs } from '../record/opentelemetry/clock.ts'
import type { RecordedSpan } from '../record/opentelemetry/recorded-span.ts'
import type { SessionRecord } from '../record/session/session-record.ts'
import type { SessionStore } from '../record/session/session-store.ts'

/** Shorter steps are sent once, when they have ended. */
const ANNOUNCE_AFTER_MS = 200
const POLL_MS = 100
const IDLE_POLL_MS = 5000
/** The server treats a session as lost after two minutes of silence. */
const HEARTBEAT_MS = 30_000

export type RunningStepsOptions = {
  store: SessionStore
  announce: (span: RecordedSpan, record: SessionRecord) => void
  detach: (callback: () => void) => void
}

/**
 * Announces running steps to the server, and sends heartbeats for long sessions. It polls the open steps, because
 * maintaining a list of its own would cost more than recording a step.
 */
export class RunningSteps {
  readonly #options: RunningStepsOptions
  #timer: NodeJS.Timeout | undefined
  #isPollingOften = false

  constructor(options: RunningStepsOptions) {
    this.#options = options
  }

  onStepStart(): void {
    if (!this.#isPollingOften) this.#schedulePoll(POLL_MS)
  }

  /** Announces the steps that have run for at least so long. Returns whether younger ones are left, and any at all. */
  announce(olderThanMs = ANNOUNCE_AFTER_MS): { isAnyYoung: boolean; isAnyOpen: boolean } {
    const nowMs = Date.now()
    let isAnyYoung = false
    let isAnyOpen = false
    for (const record of this.#options.store.openRecords()) {
      for (const [id, span] of record.open) {
        isAnyOpen = true
        if (record.announced.has(id)) continue
        if (nowMs - hrTimeToMs(span.startTime) < olderThanMs) isAnyYoung = true
        else {
          record.announced.add(id)
          this.#options.announce(span, record)
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
    const nowMs = Date.now()
    for (const record of this.#options.store.openRecords()) {
      if (nowMs - record.lastSentAtMs < HEARTBEAT_MS) continue
      const [oldest] = record.open.values()
      if (oldest !== undefined) this.#options.announce(oldest, record)
    }
  }

  #schedulePoll(afterMs: number): void {
    clearTimeout(this.#timer)
    this.#isPollingOften = afterMs === POLL_MS
    this.#options.detach(() => {
      this.#timer = setTimeout(() => this.#poll(), afterMs)
      this.#timer.unref()
    })
  }
}
