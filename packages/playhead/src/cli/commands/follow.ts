import { once } from 'node:events'
import { renderReplayParts, type Session, type SessionSummary } from '@playhead/model'
import { Api } from '../client/api.ts'
import { findSessionId, type SessionPage } from '../client/sessions.ts'
import type { Settings } from '../client/settings.ts'
import type { Terminal } from '../terminal/terminal.ts'

/**
 * Prints the steps of a session as they end, until the session ends or ^C. "last" is the newest session if it still runs,
 * otherwise the next one that starts.
 */
export async function followSession(
  source: string,
  { terminal, settings, errorsOnly }: { terminal: Terminal; settings: Settings; errorsOnly: boolean },
): Promise<void> {
  const api = await Api.connect(settings, 'read')
  const stop = new AbortController()
  void once(process, 'SIGINT', { signal: stop.signal }).then(
    () => stop.abort(),
    () => undefined,
  )
  const follower = new Follower(api, { terminal, errorsOnly, signal: stop.signal })
  try {
    const events = api.stream('/api/live', { signal: stop.signal })
    // The server sends a comment at once, so that nothing is missed between the first look and the first event.
    let isFirst = true
    for await (const chunk of events) {
      const text = Buffer.from(chunk).toString()
      if (isFirst) await follower.begin(source)
      else if (!follower.isConcerned(text)) continue
      isFirst = false
      if (await follower.look()) break
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error
    terminal.note('Stopped. The session may still run.')
  } finally {
    stop.abort()
  }
}

class Follower {
  readonly #api: Api
  readonly #terminal: Terminal
  readonly #errorsOnly: boolean
  readonly #signal: AbortSignal
  readonly #printed = new Set<string>()
  #id: string | undefined
  /** The newest session when "last" had none that runs. */
  #endedId: string | undefined
  #hasHeader = false

  constructor(
    api: Api,
    { terminal, errorsOnly, signal }: { terminal: Terminal; errorsOnly: boolean; signal: AbortSignal },
  ) {
    this.#api = api
    this.#terminal = terminal
    this.#errorsOnly = errorsOnly
    this.#signal = signal
  }

  async begin(source: string): Promise<void> {
    if (source !== 'last') {
      this.#id = await findSessionId(this.#api, source)
      return
    }
    const newest = await this.#newest()
    if (newest?.endState === 'running') this.#id = newest.id
    else {
      this.#endedId = newest?.id
      this.#terminal.note('Waiting for a session to start. ^C stops.')
    }
  }

  /** Comments keep the connection alive; then it looks too, because a session may be lost without an event. */
  isConcerned(events: string): boolean {
    return this.#id === undefined || events.startsWith(':') || events.includes(this.#id)
  }

  /** Prints what is new. Returns true if the session has ended. */
  async look(): Promise<boolean> {
    if (this.#id === undefined) {
      const newest = await this.#newest()
      if (newest === undefined || newest.id === this.#endedId) return false
      this.#id = newest.id
    }
    const session = await this.#api.json<Session>(`/api/sessions/${this.#id}`, { signal: this.#signal })
    this.#id = session.session.id
    const { isColoured, width } = this.#terminal
    const parts = renderReplayParts(session, { color: isColoured, width, errorsOnly: this.#errorsOnly })
    if (!this.#hasHeader) this.#terminal.print(parts.header)
    this.#hasHeader = true
    const hasEnded = session.session.endState !== 'running'
    for (const { step, text } of parts.steps) {
      if (this.#printed.has(step.id) || (step.status === 'running' && !hasEnded)) continue
      this.#printed.add(step.id)
      this.#terminal.print(`\n${text}`)
    }
    if (hasEnded) this.#terminal.print(`\n${parts.end}`)
    return hasEnded
  }

  async #newest(): Promise<SessionSummary | undefined> {
    const { sessions } = await this.#api.json<SessionPage>('/api/sessions', {
      query: { limit: '1' },
      signal: this.#signal,
    })
    return sessions[0]
  }
}
