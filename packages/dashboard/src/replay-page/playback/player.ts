import { findIdleGaps, type TimeRange, createTimeAxis, type TimeAxis } from './time-axis.ts'
import { fasterThan, movePlayhead, type Speed } from './playhead-clock.ts'
import { positionAt, type Timeline } from './timeline.ts'

/** `following`: it stays at the end of a session that is still running. */
export type PlayheadMotion = 'still' | 'playing' | 'scrubbing' | 'following'

export type PlayerState = {
  positionMs: number
  /** The step that is looked at; follows the playhead while that moves. */
  stepId: string | undefined
  motion: PlayheadMotion
  isBackwards: boolean
  speed: Speed
  isSkippingIdle: boolean
  /** The part of the session that fills the overview and that playing loops in; null: all of it. */
  view: TimeRange | null
}

/** Time and frames come from outside, so that tests hold the clock. */
export type PlayerClock = {
  nowMs: () => number
  requestFrame: (onFrame: () => void) => () => void
}

export type PlayerStart = Partial<Pick<PlayerState, 'positionMs' | 'stepId' | 'speed' | 'isSkippingIdle'>> & {
  isFollowing?: boolean
}

/** Moves the playhead. Whoever draws something subscribes, and is told once a frame at most. */
export class Player {
  timeline: Timeline
  #axis: TimeAxis
  #gaps: TimeRange[]
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
      motion: isFollowing ? 'following' : 'still',
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

  /** More of a running session is known. */
  setTimeline(timeline: Timeline): void {
    this.timeline = timeline
    this.#gaps = findIdleGaps(timeline)
    this.#axis = this.#createAxis()
    if (this.#state.motion !== 'following') return this.#change({})
    if (timeline.session.endState !== 'running') this.#change({ motion: 'still' })
    this.#change({ positionMs: timeline.durationMs, stepId: timeline.steps.at(-1)?.id })
  }

  play(isBackwards = false): void {
    const { motion, positionMs } = this.#state
    if (motion === 'playing' && this.#state.isBackwards === isBackwards) {
      this.#change({ speed: fasterThan(this.#state.speed) })
      return
    }
    const isAtEnd = positionMs >= this.timeline.durationMs && this.#state.view === null
    this.#change({ motion: 'playing', isBackwards, ...(isAtEnd && !isBackwards && this.#placeAt(0)) })
    this.#lastFrameMs = this.#clock.nowMs()
    this.#cancelFrame ??= this.#clock.requestFrame(this.#onFrame)
  }

  pause(): void {
    if (this.#state.motion === 'still') return
    this.#cancelFrame?.()
    this.#cancelFrame = undefined
    this.#change({ motion: 'still' })
  }

  toggle(): void {
    if (this.#state.motion === 'playing') this.pause()
    else this.play()
  }

  /** Puts the playhead anywhere; the step under it is looked at. */
  seek(timeMs: number, { isScrubbing = false } = {}): void {
    this.#cancelFrame?.()
    this.#cancelFrame = undefined
    this.#change({ ...this.#placeAt(timeMs), motion: isScrubbing ? 'scrubbing' : 'still' })
  }

  toStart(): void {
    this.seek(0)
    const [first] = this.timeline.steps
    if (first !== undefined) this.#change({ stepId: first.id })
  }

  /** Dragging has ended where it is. */
  settle(): void {
    if (this.#state.motion === 'scrubbing') this.#change({ motion: 'still' })
  }

  /** Looks at a step, with the playhead at its start. */
  readonly select = (stepId: string): void => {
    const position = this.timeline.positionOf.get(stepId)
    if (position === undefined) return
    this.#cancelFrame?.()
    this.#cancelFrame = undefined
    this.#change({ positionMs: this.timeline.startsMs[position]!, stepId, motion: 'still' })
    this.#showMoment()
  }

  /** The next or the previous step in the order of starts. */
  stepBy(count: 1 | -1): void {
    const { positionOf, steps } = this.timeline
    const { stepId } = this.#state
    const from = (stepId === undefined ? undefined : positionOf.get(stepId)) ?? -1
    const step = steps[Math.min(Math.max(0, from + count), steps.length - 1)]
    if (step !== undefined) this.select(step.id)
  }

  /** The next or the previous step that owns an error, around the end. */
  toError(count: 1 | -1): void {
    const { errors, positionOf, steps } = this.timeline
    if (errors.length === 0) return
    const { stepId } = this.#state
    const from = (stepId === undefined ? undefined : positionOf.get(stepId)) ?? -1
    const next =
      count === 1
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
    this.#tell()
  }

  setView(view: TimeRange | null): void {
    this.#change({ view })
  }

  dispose(): void {
    this.#cancelFrame?.()
    this.#cancelFrame = undefined
    this.#listeners.clear()
  }

  readonly #onFrame = (): void => {
    this.#cancelFrame = undefined
    const { motion, speed, isBackwards, view, positionMs } = this.#state
    if (motion !== 'playing') return
    const nowMs = this.#clock.nowMs()
    const moved = movePlayhead(positionMs, nowMs - this.#lastFrameMs, {
      axis: this.#axis,
      rate: isBackwards ? -speed : speed,
      loop: view,
    })
    this.#lastFrameMs = nowMs
    this.#change({ ...this.#placeAt(moved.positionMs), ...(moved.hasArrived && { motion: 'still' }) })
    if (!moved.hasArrived) this.#cancelFrame = this.#clock.requestFrame(this.#onFrame)
  }

  #placeAt(timeMs: number): Pick<PlayerState, 'positionMs' | 'stepId'> {
    const positionMs = Math.min(Math.max(0, timeMs), this.timeline.durationMs)
    const position = Math.max(0, positionAt(this.timeline, positionMs))
    return { positionMs, stepId: this.timeline.steps[position]?.id }
  }

  /** A jump out of the view moves the view along. */
  #showMoment(): void {
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
    this.#tell()
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }
}
