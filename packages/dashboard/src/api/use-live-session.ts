import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Session, SessionSummary, Step } from '@playhead/model'
import { mergeSteps } from './merge-steps.ts'
import type { LiveEvent } from '@playhead/server/api-types'
import { useSessionSource, type SessionSource } from './session-source.ts'
import { sessionKey } from './use-session.ts'

/** Events are gathered for this long: a page that is drawn anew ten times a second feels live. */
const GATHERED_FOR_MS = 100
/** What comes live has not found its place yet; the session is asked for again when it has been silent for this long. */
const SETTLED_AFTER_MS = 1500
/** And at least this often while it goes on, unless it is too long for that. */
const ASKED_AGAIN_AFTER_MS = 5000
const LONG_SESSION = 20_000

/** Keeps a session true while it runs. */
export function useLiveSession(sessionId: string, isLive: boolean): void {
  const source = useSessionSource()
  const client = useQueryClient()
  useEffect(() => {
    if (!isLive || source.watch === undefined) return
    const live = new LiveSession(client, source, sessionId)
    return () => live.stop()
  }, [client, source, sessionId, isLive])
}

class LiveSession {
  readonly #client: QueryClient
  readonly #key: readonly unknown[]
  readonly #stopWatching: () => void
  #steps: Step[] = []
  #session: SessionSummary | undefined
  #gathering: ReturnType<typeof setTimeout> | undefined
  #settling: ReturnType<typeof setTimeout> | undefined
  #askedAtMs = performance.now()

  constructor(client: QueryClient, source: SessionSource, sessionId: string) {
    this.#client = client
    this.#key = sessionKey(source.name, sessionId)
    this.#stopWatching = source.watch!(sessionId, (event) => this.#hear(event))
  }

  stop(): void {
    this.#stopWatching()
    clearTimeout(this.#gathering)
    clearTimeout(this.#settling)
  }

  #hear(event: LiveEvent): void {
    if (event.type === 'reset') return this.#askAgain()
    if (event.type === 'step') this.#steps.push(event.step)
    else this.#session = event.session
    this.#gathering ??= setTimeout(() => this.#merge(), GATHERED_FOR_MS)
  }

  #merge(): void {
    this.#gathering = undefined
    const heard = { steps: this.#steps, session: this.#session }
    this.#steps = []
    this.#session = undefined
    const known = this.#client.getQueryData<Session>(this.#key)
    if (known === undefined) return
    this.#client.setQueryData<Session>(this.#key, mergeSteps(known, heard))
    const hasEnded = heard.session !== undefined && heard.session.endState !== 'running'
    if (hasEnded) return this.#askAgain()
    clearTimeout(this.#settling)
    const isDue = performance.now() - this.#askedAtMs > ASKED_AGAIN_AFTER_MS
    if (isDue && known.steps.length < LONG_SESSION) this.#askAgain()
    else this.#settling = setTimeout(() => this.#askAgain(), SETTLED_AFTER_MS)
  }

  #askAgain(): void {
    clearTimeout(this.#settling)
    this.#askedAtMs = performance.now()
    void this.#client.invalidateQueries({ queryKey: this.#key })
  }
}
