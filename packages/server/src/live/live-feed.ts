import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { isScoreOnly, presentStep, type SessionSummary, type StepOutline } from '@playhead/model'
import type { Job } from '../api/schemas/dev.ts'
import type { LiveEvent, LiveJobEvent } from '../api/schemas/responses.ts'

/** The session that a trace is known to belong to. */
type SessionOfTrace = (project: string, traceId: string) => string

/** Events that are kept for viewers that reconnect, or read slowly. */
const KEPT_EVENTS = 5_000
/** Sessions whose start is cached, for the offsets of new steps. */
const KEPT_SESSIONS = 10_000

/** A viewer that lost its connection comes back within this time, and gets what it missed. Nothing is kept for nobody. */
const KEPT_WITHOUT_VIEWERS_MS = 60_000

/** For larger batches, viewers get a reset instead of the steps. */
export const MAX_LIVE_BATCH = 5_000

/** The most that is written to a viewer at once: what a viewer that does not read can hold. */
const MAX_CHUNK_BYTES = 256 * 1024
/** How long viewers are written to before senders get their turn. */
const TURN_MS = 0.5
/** For each millisecond that viewers take, senders get at least this many. */
const SENDERS_SHARE = 9

/** What a viewer wants to see. */
export type LiveScope = { project: string; sessionId?: string; only?: 'session' | 'job' }

type Viewer = LiveScope & {
  /** The last event that it has seen. */
  cursor: number
  /** Writes a chunk; false if no more should be written until `resume`. */
  write: (chunk: Buffer) => boolean
  isReading: boolean
}

type FeedEvent = LiveEvent | LiveJobEvent

/** `sessionId` is undefined if it concerns all sessions of the project. */
type Stored = {
  project: string
  sessionId: string | undefined
  type: FeedEvent['type']
  make: () => FeedEvent
  encoded?: Buffer
}

/**
 * Publishes steps and sessions to viewers once they are on disk. `nodes/follow-other-nodes.ts` adds what other servers
 * receive. Nothing here delays an acknowledgement: publishing only notes what happened. An event is encoded once for all
 * viewers, and written when senders don't need the processor.
 */
export class LiveFeed {
  /** Part of event ids: those from before a restart are invalid. */
  readonly #epoch = randomUUID().slice(0, 8)
  readonly #viewers = new Set<Viewer>()
  readonly #startedAtMs = new Map<string, number>()
  readonly #sessionOf: SessionOfTrace
  /** The newest events; the last one has the number `#sequence`. */
  #kept: Stored[] = []
  #sequence = 0
  #isDelivering = false
  #lastWatchedMs = -Infinity

  constructor(sessionOf: SessionOfTrace = (_, traceId) => traceId) {
    this.#sessionOf = sessionOf
  }

  publishSteps(project: string, outlines: readonly StepOutline[]): void {
    if (outlines.length > MAX_LIVE_BATCH) return this.#reset(project, undefined)
    const isKept = this.isKept()
    let [notedId, notedMs] = ['', 0]
    for (const outline of outlines) {
      if (isScoreOnly(outline)) continue
      // Most steps of a batch belong to the session of the one before and began later.
      if (!isKept && outline.sessionId === notedId && outline.startedAtMs >= notedMs) continue
      ;[notedId, notedMs] = [outline.sessionId, outline.startedAtMs]
      const sessionId = this.#sessionOf(project, outline.sessionId)
      const startedAtMs = this.#noteStart(`${project}\0${sessionId}`, outline)
      if (!isKept) continue
      const present = () =>
        presentStep({ ...outline, depth: outline.parentId === null ? 0 : 1 }, { startedAtMs })
      this.#publish({
        project,
        sessionId,
        type: 'step',
        make: () => ({ type: 'step', sessionId, step: present() }),
      })
    }
    if (!isKept) this.#skip()
  }

  publishSession(project: string, session: SessionSummary): void {
    const sessionId = session.id
    this.#publish({
      project,
      sessionId,
      type: 'session',
      make: () => ({ type: 'session', sessionId, session }),
    })
  }

  publishJob(project: string, job: Job): void {
    this.#publish({ project, sessionId: undefined, type: 'job', make: () => ({ type: 'job', ...job }) })
  }

  /**
   * Tells the viewers of these traces, and of the sessions they belong to now, to read them again. Viewers of the
   * project's list need that only if one of the traces was listed.
   */
  publishMove(project: string, traceIds: ReadonlySet<string>, isListed: boolean): void {
    if (isListed) return this.#reset(project, undefined)
    const sessionIds = [...traceIds].map((traceId) => this.#sessionOf(project, traceId))
    for (const sessionId of new Set(sessionIds)) this.#reset(project, sessionId)
  }

  /** Tells all viewers of a project to read again what they show. */
  publishReset(project: string): void {
    this.#reset(project, undefined)
  }

  #reset(project: string, sessionId: string | undefined): void {
    this.#publish({ project, sessionId, type: 'reset', make: () => ({ type: 'reset' }) })
  }

  /** Whether a viewer has this session or the project's list open. */
  isWatched(project: string, sessionId: string): boolean {
    for (const viewer of this.#viewers)
      if (
        viewer.project === project &&
        viewer.only !== 'job' &&
        (this.#sessionIdOf(viewer) ?? sessionId) === sessionId
      )
        return true
    return false
  }

  /** What viewers have open: the sessions of each project, or undefined for all of them. */
  watched(): Map<string, Set<string> | undefined> {
    const watched = new Map<string, Set<string> | undefined>()
    for (const viewer of this.#viewers) {
      const { project, only } = viewer
      const id = this.#sessionIdOf(viewer)
      if (only === 'job') continue
      if (id === undefined) watched.set(project, undefined)
      else if (!watched.has(project)) watched.set(project, new Set([id]))
      else watched.get(project)?.add(id)
    }
    return watched
  }

  get viewerCount(): number {
    return this.#viewers.size
  }

  /** Writes every event after `lastEventId` as a server-sent event. */
  subscribe(
    scope: LiveScope & { lastEventId?: string | undefined },
    write: Viewer['write'],
  ): { resume: () => void; end: () => void } {
    const cursor = scope.lastEventId === undefined ? this.#sequence : this.#sequenceOf(scope.lastEventId)
    const viewer: Viewer = { ...scope, cursor, write, isReading: true }
    this.#viewers.add(viewer)
    this.#deliver()
    return {
      resume: () => {
        viewer.isReading = true
        this.#deliver()
      },
      end: () => {
        this.#viewers.delete(viewer)
        this.#lastWatchedMs = performance.now()
      },
    }
  }

  /** Whether anybody watches, or may be about to reconnect. */
  isKept(): boolean {
    if (this.#viewers.size > 0) this.#lastWatchedMs = performance.now()
    return performance.now() - this.#lastWatchedMs < KEPT_WITHOUT_VIEWERS_MS
  }

  /** Counts an event that nobody watches: whoever comes back from before it is told to read everything again. */
  #skip(): void {
    this.#sequence += 1
    this.#kept = []
  }

  #publish(event: Stored): void {
    if (!this.isKept()) return this.#skip()
    this.#sequence += 1
    this.#kept.push(event)
    // Trimmed rarely: removing one at a time would move the whole array for every event.
    if (this.#kept.length > 2 * KEPT_EVENTS) this.#kept = this.#kept.slice(-KEPT_EVENTS)
    this.#deliver()
  }

  #deliver(): void {
    if (this.#isDelivering || this.#viewers.size === 0) return
    this.#isDelivering = true
    void this.#deliverAll().finally(() => {
      this.#isDelivering = false
      if (this.#waiting().length > 0) this.#deliver()
    })
  }

  async #deliverAll(): Promise<void> {
    await nextTurn()
    for (let viewers = this.#waiting(); viewers.length > 0; viewers = this.#waiting()) {
      // Viewers that want the same get the same bytes.
      const chunks = new Map<string, Chunk>()
      let [busyMs, turnMs] = [0, 0]
      for (const viewer of viewers) {
        const startedAtMs = performance.now()
        this.#advance(viewer, chunks)
        turnMs += performance.now() - startedAtMs
        if (turnMs < TURN_MS) continue
        busyMs += turnMs
        turnMs = 0
        await nextTurn()
      }
      busyMs += turnMs
      await pause(busyMs * SENDERS_SHARE)
    }
  }

  #waiting(): Viewer[] {
    return [...this.#viewers].filter(({ isReading, cursor }) => isReading && cursor < this.#sequence)
  }

  #advance(viewer: Viewer, chunks: Map<string, Chunk>): void {
    if (!this.#viewers.has(viewer)) return
    const { cursor, project, sessionId = '', only = '' } = viewer
    const key = `${cursor} ${project} ${sessionId} ${only}`
    const chunk = chunks.get(key) ?? this.#chunkFor(viewer)
    chunks.set(key, chunk)
    viewer.cursor = chunk.cursor
    if (chunk.bytes.length > 0) viewer.isReading = viewer.write(chunk.bytes)
  }

  /** What a viewer has not seen yet, up to a limit. */
  #chunkFor(viewer: Viewer): Chunk {
    const oldest = this.#sequence - this.#kept.length + 1
    if (viewer.cursor + 1 < oldest)
      return { cursor: this.#sequence, bytes: encode(this.#idOf(this.#sequence), { type: 'reset' }) }
    const parts: Buffer[] = []
    let [bytes, cursor] = [0, viewer.cursor]
    while (cursor < this.#sequence && bytes < MAX_CHUNK_BYTES) {
      cursor += 1
      const event = this.#kept[cursor - oldest]!
      if (!this.#matches(viewer, event)) continue
      event.encoded ??= encode(this.#idOf(cursor), event.make())
      parts.push(event.encoded)
      bytes += event.encoded.length
    }
    return { cursor, bytes: Buffer.concat(parts) }
  }

  #idOf(sequence: number): string {
    return `${this.#epoch}-${sequence.toString(36)}`
  }

  /** An id that is not ours, or not any more, is before all events. */
  #sequenceOf(id: string): number {
    const [epoch, sequence = ''] = id.split('-')
    const last = Number.parseInt(sequence, 36)
    return epoch === this.#epoch && last <= this.#sequence ? last : -1
  }

  #matches(viewer: Viewer, { project, sessionId, type }: Stored): boolean {
    if (viewer.project !== project) return false
    const viewed = this.#sessionIdOf(viewer)
    if (type === 'reset') return sessionId === undefined || viewed === sessionId
    if (viewer.only !== undefined && viewer.only !== type) return false
    return viewed === undefined || viewed === sessionId
  }

  /** A viewer may have opened a trace before it turned out to belong to another session. */
  #sessionIdOf({ project, sessionId }: Viewer): string | undefined {
    return sessionId === undefined ? undefined : this.#sessionOf(project, sessionId)
  }

  #noteStart(key: string, outline: StepOutline): number {
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

type Chunk = { cursor: number; bytes: Buffer }

function encode(id: string, { type, ...data }: FeedEvent): Buffer {
  return Buffer.from(`id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`)
}
