import { countOf, liveSides, REDACTED, type Lane, type TapeMiss } from '@playhead/model'
import { setMetadata } from '../record/session/sessions.ts'

export type RunCounts = { taped: number; live: number; stubbed: number }

export type RunStateOptions = {
  lane: Lane
  onMiss: 'fail' | 'live'
  /** Called once when the run leaves the tape. */
  onLive?: (() => void) | undefined
  /** Called once when the run has missed something, and can only end. */
  onLost?: (() => void) | undefined
}

/** How far a run has come: still on the tape, live, or stopped. */
export class RunState {
  readonly counts: RunCounts = { taped: 0, live: 0, stubbed: 0 }
  readonly #misses: TapeMiss[] = []
  readonly #notes = new Set<string>()
  readonly #options: RunStateOptions
  #isForked = false
  #isOffTape = false
  #isLive = false
  #stop: string | undefined
  #redactedCount = 0

  constructor(options: RunStateOptions) {
    this.#options = options
  }

  /** Which side is live. */
  get sides(): { model: boolean; tools: boolean } {
    if (this.#isOffTape) return { model: true, tools: true }
    return liveSides(this.#options.lane, this.#isForked)
  }

  /** The first is the one that counts. */
  get misses(): readonly TapeMiss[] {
    return this.#misses
  }

  get isForked(): boolean {
    return this.#isForked
  }

  /** Why nothing is answered any more; undefined while the run goes on. */
  get stop(): string | undefined {
    return this.#stop
  }

  get notes(): string[] {
    if (this.#redactedCount === 0) return [...this.#notes]
    const values = countOf(this.#redactedCount, 'value')
    return [...this.#notes, `The live model was sent ${values} that the recording has only as ${REDACTED}.`]
  }

  /** What a request to a live model contains; agents send their history again with every call. */
  sendRedacted(count: number): void {
    this.#redactedCount = Math.max(this.#redactedCount, count)
  }

  note(sentence: string): void {
    this.#notes.add(sentence)
  }

  /** The run has come to the step of the fork. */
  fork(): void {
    this.#isForked = true
    this.leaveTape()
  }

  /** A real request or a real action follows. */
  leaveTape(): void {
    if (this.#isLive) return
    this.#isLive = true
    this.#options.onLive?.()
  }

  /**
   * Returns true if the run goes on without the tape. Otherwise it stops: what follows would be asked in a state that was
   * never recorded.
   */
  miss(miss: TapeMiss): boolean {
    if (this.#options.onMiss === 'fail') {
      this.halt(miss)
      return false
    }
    this.#misses.push(miss)
    this.#isOffTape = true
    this.leaveTape()
    this.note('From there on, the run was live.')
    setMetadata({ rerun: `Live from the first miss on. ${miss.sentence}` })
    return true
  }

  /** Stops the run for a reason that no live call could mend. */
  halt(miss: TapeMiss): void {
    this.#stop ??= miss.sentence
    this.addMiss(miss)
  }

  /** What the run missed decides its verdict, even if it can go on. */
  addMiss(miss: TapeMiss): void {
    if (this.#misses.push(miss) === 1) this.#options.onLost?.()
  }
}
