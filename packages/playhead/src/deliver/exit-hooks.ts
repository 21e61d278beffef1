/** What has to be done before the process is gone. */
export type LastDuties = {
  hasWork(): boolean
  /** Counts up with everything that is recorded. */
  recordedCount(): number
  /** Ends the sessions that are still open, saying why. */
  closeSessions(why: { reason: string; error?: unknown }): void
  /** Delivers what there is, for at most so long. */
  drain(timeoutMs: number): Promise<unknown>
  /** The same without waiting for anything. */
  drainSync(): void
}

type Signal = 'SIGTERM' | 'SIGINT'

const DRAIN_MS = 2000

/**
 * Sees to it that nothing is lost when the process ends, however it does. The host's own handlers, its exit code and the
 * signal it dies of stay what they were.
 */
export class ExitHooks {
  readonly #duties: LastDuties
  #uncaught: { error: unknown } | undefined
  #isLeaving = false
  #isDraining = false
  /** What had been recorded when everything was last tried for it. */
  #triedCount = -1

  constructor(duties: LastDuties) {
    this.#duties = duties
  }

  install(): void {
    process.on('beforeExit', this.#onBeforeExit)
    process.on('exit', this.#onExit)
    process.on('uncaughtExceptionMonitor', this.#onUncaught)
    process.on('SIGTERM', this.#onSignal)
    process.on('SIGINT', this.#onSignal)
  }

  uninstall(): void {
    process.off('beforeExit', this.#onBeforeExit)
    process.off('exit', this.#onExit)
    process.off('uncaughtExceptionMonitor', this.#onUncaught)
    this.#releaseSignals()
  }

  #releaseSignals(): void {
    process.off('SIGTERM', this.#onSignal)
    process.off('SIGINT', this.#onSignal)
  }

  /** Nothing is left to do for the host; delivering gives the process something to do, so this comes once more after it. */
  readonly #onBeforeExit = (): void => {
    if (this.#isDraining) return
    this.#duties.closeSessions({ reason: 'The process ended before the session did' })
    const recordedCount = this.#duties.recordedCount()
    // A server that does not take it now won't if it is asked for ever; `exit` has the last word.
    if (!this.#duties.hasWork() || recordedCount === this.#triedCount) return
    this.#triedCount = recordedCount
    this.#isDraining = true
    void this.#duties.drain(DRAIN_MS).finally(() => {
      this.#isDraining = false
    })
  }

  readonly #onExit = (): void => {
    const error = this.#uncaught?.error
    this.#duties.closeSessions({ reason: 'The process ended before the session did', error })
    this.#duties.drainSync()
  }

  /** Whether the exception ends the process is up to the host; if it does, `exit` follows at once. */
  readonly #onUncaught = (error: unknown): void => {
    this.#uncaught = { error }
    setImmediate(() => {
      this.#uncaught = undefined
    }).unref()
  }

  readonly #onSignal = (signal: Signal): void => {
    const others = process.listeners(signal).filter((listener) => listener !== this.#onSignal)
    // A host that handles the signal decides when to go, and `exit` will tell us.
    if (!others.every(onlyRaisesAgain)) return
    if (this.#isLeaving) return this.#leave(signal)
    this.#isLeaving = true
    this.#duties.closeSessions({ reason: `The process was ended by ${signal}` })
    void this.#duties.drain(DRAIN_MS).finally(() => this.#leave(signal))
  }

  /** Dies of the signal as the process would have without us. */
  #leave(signal: Signal): void {
    this.#duties.drainSync()
    this.#releaseSignals()
    process.kill(process.pid, signal)
  }
}

/** The package `signal-exit` waits for every other listener to be gone: it does not decide anything. */
function onlyRaisesAgain(listener: unknown): boolean {
  return /signal_exit|emitter\.count/.test(Function.prototype.toString.call(listener))
}
