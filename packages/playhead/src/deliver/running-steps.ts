import type { RecordedSpan } from '../record/opentelemetry/recorded-span.ts'
import type { SessionRecord } from '../record/session/session-record.ts'
import type { SessionStore } from '../record/session/session-store.ts'

/** A step that has run for so long is shown while it runs; shorter ones cost nothing extra. */
const ANNOUNCED_AFTER_MS = 200
const LOOK_EVERY_MS = 100
/** The server calls a session lost when it hears nothing for two minutes. */
const SIGN_OF_LIFE_EVERY_MS = 30_000
const LOOK_SELDOM_MS = 5000

export type RunningStepsOptions = {
  store: SessionStore
  announce: (span: RecordedSpan, record: SessionRecord) => void
  outside: (callback: () => void) => void
}

/**
 * Tells the server which steps are under way, and that long sessions are still alive. It looks at what is open now and then;
 * a list of its own, kept up with every step, would cost more than recording the step.
 */
export class RunningSteps {
  readonly #options: RunningStepsOptions
  #timer: NodeJS.Timeout | undefined
  #isLookingOften = false

  constructor(options: RunningStepsOptions) {
    this.#options = options
  }

  onStepStart(): void {
    if (!this.#isLookingOften) this.#lookAgain(LOOK_EVERY_MS)
  }

  onStepEnd(): void {
    // What has ended is no longer among the open steps.
  }

  /** Announces steps that have run for so long; with 0 all of them. Says whether younger ones are left, and any at all. */
  announce(olderThanMs = ANNOUNCED_AFTER_MS): { isAnyYoung: boolean; isAnyOpen: boolean } {
    const nowMs = Date.now()
    let isAnyYoung = false
    let isAnyOpen = false
    for (const record of this.#options.store.openRecords()) {
      for (const [id, span] of record.open) {
        isAnyOpen = true
        if (record.announced.has(id)) continue
        if (nowMs - startMs(span) < olderThanMs) isAnyYoung = true
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
    this.#isLookingOften = false
  }

  #look(): void {
    const { isAnyYoung, isAnyOpen } = this.announce()
    this.#showLife()
    if (isAnyYoung) this.#lookAgain(LOOK_EVERY_MS)
    else if (isAnyOpen) this.#lookAgain(LOOK_SELDOM_MS)
    else this.stop()
  }

  /** Sends one open step again for every session that was silent for long. */
  #showLife(): void {
    const nowMs = Date.now()
    for (const record of this.#options.store.openRecords()) {
      if (nowMs - record.lastSentAtMs < SIGN_OF_LIFE_EVERY_MS) continue
      const [oldest] = record.open.values()
      if (oldest !== undefined) this.#options.announce(oldest, record)
    }
  }

  #lookAgain(afterMs: number): void {
    clearTimeout(this.#timer)
    this.#isLookingOften = afterMs === LOOK_EVERY_MS
    this.#options.outside(() => {
      this.#timer = setTimeout(() => this.#look(), afterMs)
      this.#timer.unref()
    })
  }
}

function startMs({ startTime: [seconds, nanoseconds] }: RecordedSpan): number {
  return seconds * 1000 + nanoseconds / 1e6
}
