import type { Recorder } from '../record/session/recorder.ts'

export type WorkLoopOptions = {
  /** Does the work and returns the delay before the next attempt, if one is needed. */
  work: (isForced: boolean) => Promise<number | undefined>
  /** The delay before the next run, if there is new work when a run ends. */
  nextDelayMs: () => number | undefined
}

/** Runs work on a timer, one run at a time. Its timers do not keep the process alive. */
export class WorkLoop {
  readonly #source: Pick<Recorder, 'scope' | 'fault'>
  readonly #options: WorkLoopOptions
  #timer: NodeJS.Timeout | undefined
  #timerAtMs = 0
  #run: Promise<void> | undefined

  constructor(source: Pick<Recorder, 'scope' | 'fault'>, options: WorkLoopOptions) {
    this.#source = source
    this.#options = options
  }

  get isScheduled(): boolean {
    return this.#timer !== undefined
  }

  /** Never postpones what is already scheduled. */
  schedule(delayMs: number): void {
    const atMs = performance.now() + delayMs
    if (this.#run !== undefined || (this.#timer !== undefined && this.#timerAtMs <= atMs)) return
    clearTimeout(this.#timer)
    this.#timerAtMs = atMs
    this.#source.scope.detach(() => {
      this.#timer = setTimeout(() => void this.#start(false), delayMs)
      this.#timer.unref()
    })
  }

  async runNow(): Promise<void> {
    await this.#run
    let run: Promise<void> | undefined
    this.#source.scope.detach(() => {
      run = this.#start(true)
    })
    await run
  }

  #start(isForced: boolean): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#run ??= this.#options
      .work(isForced)
      .catch((error: unknown) => this.#source.fault(error))
      .then((retryMs) => {
        this.#run = undefined
        const delayMs = typeof retryMs === 'number' ? retryMs : this.#options.nextDelayMs()
        if (delayMs !== undefined) this.schedule(delayMs)
      })
    return this.#run
  }
}
