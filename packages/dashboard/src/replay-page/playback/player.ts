import { findIdleGaps, type TimeRange, createTimeAxis, type TimeAxis } from './time-axis.ts'
import { nextSpeed, advancePlayhead, type Speed } from './playhead.ts'
import { positionAt, type Timeline } from './timeline.ts'

/** `following`: stays at the end of a session that is still running. */
export type PlayheadMotion = 'paused' | 'playing' | 'scrubbing' | 'following'

export type PlayerState = {
  positionMs: number
  /** The selected step; follows the playhead while it moves. */
  stepId: string | undefined
  motion: PlayheadMotion
  isBackwards: boolean
  speed: Speed
  isSkippingIdle: boolean
  /** The range that fills the timeline and that playback loops in; null for the whole session. */
  view: TimeRange | null
}

/** Injected so that tests control time and frames. */
export type PlayerClock = {
  nowMs: () => number
  requestFrame: (onFrame: () => void) => () => void
}

export type PlayerStart = Partial<Pick<PlayerState, 'positionMs' | 'stepId' | 'speed' | 'isSkippingIdle'>> & {
  isFollowing?: boolean
}

/** Owns the playhead. Components subscribe to its state. */
export class Player {
  timeline: Timeline
  #axis: TimeAxis
  #gaps: readonly TimeRange[]
  #state: PlayerState
  readonly #clock: PlayerClock
  readonly #listeners = new Set<() => void>()
  #lastFrameMs = 0
  #cancelFrame: (() => void) | undefined

  constructor(timeline: Timeline, clock: PlayerClock, start: PlayerStart = {}) {
    this.timeline = timeline
    this.#clock = clock
    this.#gaps = findIdleGaps(timeline)
    const isFollowing = start.isFollowing === true
    this.#state = {
      positionMs: isFollowing ? timeline.durationMs : (start.positionMs ?? 0),
      stepId: isFollowing ? timeline.steps.at(-1)?.id : (start.stepId ?? timeline.steps[0]?.id),
      motion: isFollowing ? 'following' : 'paused',
      isBackwards: false,
      speed: start.speed ?? 1,
      isSkippingIdle: start.isSkippingIdle ?? false,
      view: null,
    }
    this.#axis = this.#createAxis()
  }

  readonly getState = (): PlayerState => this.#state

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Takes a timeline with newly arrived steps. */
  setTimeline(timeline: Timeline): void {
    this.timeline = timeline
    this.#gaps = findIdleGaps(timeline)
    this.#axis = this.#createAxis()
    if (this.#state.motion !== 'following') return this.#change({})
    if (timeline.session.endState !== 'running') this.#change({ motion: 'paused' })
    this.#change({ positionMs: timeline.durationMs, stepId: timeline.steps.at(-1)?.id })
  }

  play(isBackwards = false): void {
    const { motion, positionMs } = this.#state
    if (motion === 'playing' && this.#state.isBackwards === isBackwards) {
      this.#change({ speed: nextSpeed(this.#state.speed) })
      return
    }
    const isAtEnd = positionMs >= this.timeline.durationMs && this.#state.view === null
    this.#change({ motion: 'playing', isBackwards, ...(isAtEnd && !isBackwards && this.#placeAt(0)) })
    this.#lastFrameMs = this.#clock.nowMs()
    this.#cancelFrame ??= this.#clock.requestFrame(this.#onFrame)
  }

  pause(): void {
    if (this.#state.motion === 'paused') return
    this.#cancelFrame?.()
    this.#cancelFrame = undefined
    this.#change({ motion: 'paused' })
  }

  toggle(): void {
    if (this.#state.motion === 'playing') this.pause()
    else this.play()
  }

  /** Moves the playhead and selects the step under it. */
  seek(timeMs: number, { isScrubbing = false } = {}): void {
    this.#cancelFrame?.()
    this.#cancelFrame = undefined
    this.#change({ ...this.#placeAt(timeMs), motion: isScrubbing ? 'scrubbing' : 'paused' })
  }

  jumpToStart(): void {
    this.seek(0)
    const [first] = this.timeline.steps
    if (first !== undefined) this.#change({ stepId: first.id })
  }

  endScrub(): void {
    if (this.#state.motion === 'scrubbing') this.#change({ motion: 'paused' })
  }

  /** Selects a step and moves the playhead to its start. */
  readonly select = (stepId: string): void => {
    const position = this.timeline.positionOf.get(stepId)
    if (position === undefined) return
    this.#cancelFrame?.()
    this.#cancelFrame = undefined
    this.#change({ positionMs: this.timeline.startsMs[position]!, stepId, motion: 'paused' })
    this.#keepInView()
  }

  /** Selects the next or previous step in start order. */
  stepBy(direction: 1 | -1): void {
    const { positionOf, steps } = this.timeline
    const { stepId } = this.#state
    const from = (stepId === undefined ? undefined : positionOf.get(stepId)) ?? -1
    const step = steps[Math.min(Math.max(0, from + direction), steps.length - 1)]
    if (step !== undefined) this.select(step.id)
  }

  /** Selects the next or previous step that owns an error, wrapping around. */
  jumpToError(direction: 1 | -1): void {
    const { errors, positionOf, steps } = this.timeline
    if (errors.length === 0) return
    const { stepId } = this.#state
    const from = (stepId === undefined ? undefined : positionOf.get(stepId)) ?? -1
    const next =
      direction === 1
        ? (errors.find((position) => position > from) ?? errors[0]!)
        : (errors.findLast((position) => position < from) ?? errors.at(-1)!)
    this.select(steps[next]!.id)
  }

  follow(): void {
    this.#change({
      motion: 'following',
      view: null,
      positionMs: this.timeline.durationMs,
      stepId: this.timeline.steps.at(-1)?.id,
    })
  }

  setSpeed(speed: Speed): void {
    this.#change({ speed })
  }

  setSkippingIdle(isSkippingIdle: boolean): void {
    this.#state = { ...this.#state, isSkippingIdle }
    this.#axis = this.#createAxis()
    this.#notify()
  }

  setView(view: TimeRange | null): void {
    this.#change({ view })
  }

  readonly #onFrame = (): void => {
    this.#cancelFrame = undefined
    const { motion, speed, isBackwards, view, positionMs } = this.#state
    if (motion !== 'playing') return
    const nowMs = this.#clock.nowMs()
    const moved = advancePlayhead(positionMs, nowMs - this.#lastFrameMs, {
      axis: this.#axis,
      rate: isBackwards ? -speed : speed,
      loop: view,
    })
    this.#lastFrameMs = nowMs
    this.#change({ ...this.#placeAt(moved.positionMs), ...(moved.hasArrived && { motion: 'paused' }) })
    if (!moved.hasArrived) this.#cancelFrame = this.#clock.requestFrame(this.#onFrame)
  }

  #placeAt(timeMs: number): Pick<PlayerState, 'positionMs' | 'stepId'> {
    const positionMs = Math.min(Math.max(0, timeMs), this.timeline.durationMs)
    const position = Math.max(0, positionAt(this.timeline, positionMs))
    return { positionMs, stepId: this.timeline.steps[position]?.id }
  }

  /** Moves the view along when the playhead jumps out of it. */
  #keepInView(): void {
    const { view, positionMs } = this.#state
    if (view === null || (positionMs >= view.startMs && positionMs <= view.endMs)) return
    const length = view.endMs - view.startMs
    const startMs = Math.min(Math.max(0, positionMs - length / 2), this.timeline.durationMs - length)
    this.#change({ view: { startMs, endMs: startMs + length } })
  }

  #createAxis(): TimeAxis {
    return createTimeAxis(this.timeline.durationMs, this.#state.isSkippingIdle ? this.#gaps : [])
  }

  #change(change: Partial<PlayerState>): void {
    this.#state = { ...this.#state, ...change }
    this.#notify()
  }

  #notify(): void {
    for (const listener of this.#listeners) listener()
  }
}
