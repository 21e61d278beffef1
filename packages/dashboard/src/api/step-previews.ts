import { isSkeleton, type Step } from '@playhead/model'
import type { SessionSource } from './session-source.ts'

/** As many steps as one request may ask for. */
const STEPS_PER_REQUEST = 200
const REQUESTED_EVERY_MS = 150

type Preview = {
  /** The step that it was requested for. Another one is there after the session was read again. */
  requestedFor: Step
  step: Step | undefined
}

/**
 * The previews of a long session, whose steps come without them. They are requested for the rows on the screen. A preview of an earlier
 * reading of the session is shown until the new one is there.
 */
export class StepPreviews {
  readonly #source: SessionSource
  readonly #sessionId: string
  readonly #known = new Map<string, Preview>()
  /** So that a row gets the same object every time. */
  readonly #completed = new WeakMap<Step, Step>()
  readonly #listeners = new Set<() => void>()
  #wanted: readonly Step[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
  #requestedAtMs = -Infinity
  #version = 0

  constructor(source: SessionSource, sessionId: string) {
    this.#source = source
    this.#sessionId = sessionId
  }

  /** The step with its previews, as far as they are loaded. */
  readonly of = (step: Step): Step => {
    const preview = isSkeleton(step) ? this.#known.get(step.id)?.step : undefined
    if (preview === undefined) return step
    const { inputPreview, outputPreview } = preview
    const completed = this.#completed.get(step)
    if (
      completed !== undefined &&
      completed.inputPreview === inputPreview &&
      completed.outputPreview === outputPreview
    )
      return completed
    const complete: Step = { ...step }
    if (inputPreview !== undefined) complete.inputPreview = inputPreview
    if (outputPreview !== undefined) complete.outputPreview = outputPreview
    this.#completed.set(step, complete)
    return complete
  }

  /** Requests what is missing of these steps soon, instead of what was wanted before; of rows that fly by, once they stop. */
  want(steps: readonly Step[], { isFlyingBy = false } = {}): void {
    this.#wanted = steps.filter((step) => this.#isMissing(step))
    if (isFlyingBy) this.stop()
    if (this.#wanted.length === 0 || this.#timer !== undefined) return
    const waitMs = isFlyingBy
      ? REQUESTED_EVERY_MS
      : Math.max(0, this.#requestedAtMs + REQUESTED_EVERY_MS - performance.now())
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#requestedAtMs = performance.now()
      void this.load(this.#wanted)
    }, waitMs)
  }

  /** Resolves when these steps have their previews, or can't get them. */
  async load(steps: readonly Step[]): Promise<void> {
    const missing = steps.filter((step) => this.#isMissing(step))
    for (let at = 0; at < missing.length; at += STEPS_PER_REQUEST)
      await this.#request(missing.slice(at, at + STEPS_PER_REQUEST))
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Changes when previews arrive. */
  readonly getVersion = (): number => this.#version

  #isMissing(step: Step): boolean {
    return isSkeleton(step) && this.#known.get(step.id)?.requestedFor !== step
  }

  async #request(steps: readonly Step[]): Promise<void> {
    const { readPreviews } = this.#source
    if (readPreviews === undefined) return
    for (const step of steps)
      this.#known.set(step.id, { requestedFor: step, step: this.#known.get(step.id)?.step })
    const ids = steps.map(({ id }) => id)
    const read = await readPreviews(this.#sessionId, ids).catch(() => undefined)
    if (read === undefined) {
      // Whoever looks at them next asks again.
      for (const step of steps) if (this.#known.get(step.id)?.requestedFor === step) this.#forget(step)
      return
    }
    for (const step of read) {
      const known = this.#known.get(step.id)
      if (known !== undefined) known.step = step
    }
    this.#version += 1
    for (const listener of this.#listeners) listener()
  }

  #forget({ id }: Step): void {
    this.#known.delete(id)
  }
}
