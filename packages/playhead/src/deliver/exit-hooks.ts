/** What must happen before the process ends. */
export type ExitTasks = {
  hasWork(): boolean
  /** Increases with every recorded step. */
  recordedCount(): number
  /** Ends the open sessions. */
  closeSessions(why: { reason: string; error?: unknown }): void
  flush(timeoutMs: number): Promise<unknown>
  /** Flushes without using the event loop. */
  flushSync(): void
}

type Signal = 'SIGTERM' | 'SIGINT'

const FLUSH_TIMEOUT_MS = 2000

/**
 * Makes sure that nothing is lost when the process ends, in whatever way. The host's own handlers, its exit code and the
 * signal that ends it stay the same.
 */
export class ExitHooks {
  readonly #tasks: ExitTasks
  #uncaught: { error: unknown } | undefined
  #isEnding = false
  #isFlushing = false
  /** The count of recorded steps at the last attempt to flush before exit. */
  #flushedCount = -1

  constructor(tasks: ExitTasks) {
    this.#tasks = tasks
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

  /** The host has no work left. Flushing gives the event loop work, so Node emits this again afterwards. */
  readonly #onBeforeExit = (): void => {
    if (this.#isFlushing) return
    this.#tasks.closeSessions({ reason: 'The process ended before the session did' })
    const recordedCount = this.#tasks.recordedCount()
    // Retrying forever would keep the process alive; `exit` has the last try.
    if (!this.#tasks.hasWork() || recordedCount === this.#flushedCount) return
    this.#flushedCount = recordedCount
    this.#isFlushing = true
    void this.#tasks.flush(FLUSH_TIMEOUT_MS).finally(() => {
      this.#isFlushing = false
    })
  }

  readonly #onExit = (): void => {
    const error = this.#uncaught?.error
    this.#tasks.closeSessions({ reason: 'The process ended before the session did', error })
    this.#tasks.flushSync()
  }

  /** The host decides whether the exception ends the process; if it does, `exit` follows at once. */
  readonly #onUncaught = (error: unknown): void => {
    this.#uncaught = { error }
    setImmediate(() => {
      this.#uncaught = undefined
    }).unref()
  }

  readonly #onSignal = (signal: Signal): void => {
    const others = process.listeners(signal).filter((listener) => listener !== this.#onSignal)
    // A host that handles the signal decides when to exit, and `exit` tells us.
    if (!others.every(isSignalExit)) return
    if (this.#isEnding) return this.#reraise(signal)
    this.#isEnding = true
    this.#tasks.closeSessions({ reason: `The process was ended by ${signal}` })
    void this.#tasks.flush(FLUSH_TIMEOUT_MS).finally(() => this.#reraise(signal))
  }

  /** Ends the process with the signal, as without the SDK. */
  #reraise(signal: Signal): void {
    this.#tasks.flushSync()
    this.#releaseSignals()
    process.kill(process.pid, signal)
  }
}

/** The package `signal-exit` only acts once it is the last listener, so it does not count as the host's handler. */
function isSignalExit(listener: unknown): boolean {
  return /signal_exit|emitter\.count/.test(Function.prototype.toString.call(listener))
}
