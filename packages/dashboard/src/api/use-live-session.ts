import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { SessionSummary, Step } from '@playhead/model'
import { mergeSteps } from './merge-steps.ts'
import type { LiveEvent } from '@playhead/server/api-types'
import { useSessionSource, type LoadedSession, type SessionSource } from './session-source.ts'
import { sessionKey } from './use-session.ts'

/** Events are batched for this long: ten updates a second feel live. */
const BATCH_MS = 100
/** Live steps are provisional: the session is refetched after this long without events. */
const QUIET_MS = 1500
/** While events keep coming it is refetched this often, unless it is long. */
const REFETCH_MS = 5000
const LONG_SESSION = 20_000

/** Keeps a running session up to date. */
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
  #batchTimer: ReturnType<typeof setTimeout> | undefined
  #quietTimer: ReturnType<typeof setTimeout> | undefined
  #fetchedAtMs = performance.now()

  constructor(client: QueryClient, source: SessionSource, sessionId: string) {
    this.#client = client
    this.#key = sessionKey(source.name, sessionId)
    this.#stopWatching = source.watch!(sessionId, (event) => this.#receive(event))
  }

  stop(): void {
    this.#stopWatching()
    clearTimeout(this.#batchTimer)
    clearTimeout(this.#quietTimer)
  }

  #receive(event: LiveEvent): void {
    if (event.type === 'reset') return this.#refetch()
    if (event.type === 'step') this.#steps.push(event.step)
    else this.#session = event.session
    this.#batchTimer ??= setTimeout(() => this.#merge(), BATCH_MS)
  }

  #merge(): void {
    this.#batchTimer = undefined
    const update = { steps: this.#steps, session: this.#session }
    this.#steps = []
    this.#session = undefined
    const known = this.#client.getQueryData<LoadedSession>(this.#key)
    if (known === undefined) return
    this.#client.setQueryData<LoadedSession>(this.#key, mergeSteps(known, update))
    const hasEnded = update.session !== undefined && update.session.endState !== 'running'
    if (hasEnded) return this.#refetch()
    clearTimeout(this.#quietTimer)
    const isDue = performance.now() - this.#fetchedAtMs > REFETCH_MS
    if (isDue && known.steps.length < LONG_SESSION) this.#refetch()
    else this.#quietTimer = setTimeout(() => this.#refetch(), QUIET_MS)
  }

  #refetch(): void {
    clearTimeout(this.#quietTimer)
    this.#fetchedAtMs = performance.now()
    void this.#client.invalidateQueries({ queryKey: this.#key })
  }
}
