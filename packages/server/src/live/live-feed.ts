import { randomUUID } from 'node:crypto'
import { presentStep, type SessionSummary, type StepOutline } from '@playhead/model'
import type { LiveEvent } from '../api/schemas/responses.ts'

type Stored = { sequence: number; project: string; event: Exclude<LiveEvent, { type: 'reset' }> }
type Listener = (id: string, event: LiveEvent) => void
type Subscription = { project: string; sessionId: string | undefined; listener: Listener }

/** Events that are kept for viewers that reconnect. */
const KEPT_EVENTS = 5_000
/** Sessions whose start is cached, for the offsets of new steps. */
const KEPT_SESSIONS = 10_000

/** For larger batches, viewers get a reset instead of the steps. */
export const MAX_LIVE_BATCH = 5_000

/** Publishes steps and sessions to viewers once they are on disk. A viewer sees only what its own node receives. */
export class LiveFeed {
  /** Part of event ids: those from before a restart are invalid. */
  readonly #epoch = randomUUID().slice(0, 8)
  readonly #subscriptions = new Set<Subscription>()
  readonly #startedAtMs = new Map<string, number>()
  #kept: Stored[] = []
  #sequence = 0

  publishSteps(project: string, outlines: readonly StepOutline[]): void {
    if (outlines.length > MAX_LIVE_BATCH) return this.#reset(project)
    for (const outline of outlines) {
      const startedAtMs = this.#noteStart(project, outline)
      const step = presentStep({ ...outline, depth: outline.parentId === null ? 0 : 1 }, { startedAtMs })
      this.#publish(project, { type: 'step', sessionId: outline.sessionId, step })
    }
  }

  publishSession(project: string, session: SessionSummary): void {
    this.#publish(project, { type: 'session', sessionId: session.id, session })
  }

  /** Whether a viewer has this session or the project's list open. */
  isWatched(project: string, sessionId: string): boolean {
    for (const subscription of this.#subscriptions) if (matches(subscription, project, sessionId)) return true
    return false
  }

  get viewerCount(): number {
    return this.#subscriptions.size
  }

  /** Calls `listener` for every event after `lastEventId`. Returns a function that unsubscribes. */
  subscribe(
    scope: { project: string; sessionId?: string | undefined; lastEventId?: string | undefined },
    listener: Listener,
  ): () => void {
    const subscription: Subscription = { project: scope.project, sessionId: scope.sessionId, listener }
    if (scope.lastEventId !== undefined) this.#catchUp(subscription, scope.lastEventId)
    this.#subscriptions.add(subscription)
    return () => this.#subscriptions.delete(subscription)
  }

  /** Tells all viewers of the project, and those that reconnect, that they missed events. */
  #reset(project: string): void {
    this.#sequence += 1
    this.#kept = []
    for (const subscription of this.#subscriptions) {
      if (subscription.project === project) subscription.listener(this.#id(this.#sequence), { type: 'reset' })
    }
  }

  #publish(project: string, event: Stored['event']): void {
    this.#sequence += 1
    this.#kept.push({ sequence: this.#sequence, project, event })
    // Trimmed rarely: removing one at a time would move the whole array for every event.
    if (this.#kept.length > 2 * KEPT_EVENTS) this.#kept = this.#kept.slice(-KEPT_EVENTS)
    for (const subscription of this.#subscriptions) {
      if (matches(subscription, project, event.sessionId))
        subscription.listener(this.#id(this.#sequence), event)
    }
  }

  #catchUp(subscription: Subscription, lastEventId: string): void {
    const [epoch, sequence] = lastEventId.split('-')
    const last = Number.parseInt(sequence ?? '', 36)
    const oldest = this.#kept[0]?.sequence ?? this.#sequence + 1
    if (epoch !== this.#epoch || Number.isNaN(last) || last + 1 < oldest) {
      return subscription.listener(this.#id(this.#sequence), { type: 'reset' })
    }
    for (const { sequence: at, project, event } of this.#kept) {
      if (at > last && matches(subscription, project, event.sessionId))
        subscription.listener(this.#id(at), event)
    }
  }

  #id(sequence: number): string {
    return `${this.#epoch}-${sequence.toString(36)}`
  }

  #noteStart(project: string, outline: StepOutline): number {
    const key = `${project}\0${outline.sessionId}`
    const known = this.#startedAtMs.get(key)
    if (known !== undefined && known <= outline.startedAtMs) return known
    this.#startedAtMs.set(key, outline.startedAtMs)
    if (this.#startedAtMs.size > KEPT_SESSIONS) {
      const oldest = this.#startedAtMs.keys().next().value
      if (oldest !== undefined) this.#startedAtMs.delete(oldest)
    }
    return outline.startedAtMs
  }
}

function matches(subscription: Subscription, project: string, sessionId: string): boolean {
  if (subscription.project !== project) return false
  return subscription.sessionId === undefined || subscription.sessionId === sessionId
}
