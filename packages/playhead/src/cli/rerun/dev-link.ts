import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { ForkEdit } from '@playhead/model'
import type { RerunLine } from '../../rerun/messages.ts'
import { Api, connectionError, type Query } from '../client/api.ts'
import type { Settings } from '../client/settings.ts'
import { CliError } from '../terminal/cli-error.ts'

/** What a page asks for. It names what to run and what to change; the terminal decides everything else. */
export type DevJob = { jobId: string; sessionId: string; stepId: string; edit?: ForkEdit; times: number }

export type DevEvent =
  | { name: 'code'; data: { code: string; project: string } }
  | { name: 'job'; data: DevJob }
  | { name: 'cancel'; data: { jobId: string } }

export type JobReport = {
  state: 'accepted' | 'refused' | 'started' | 'finished'
  sessionId?: string
  line?: RerunLine
  sentence?: string
}

const RUNNER = '/api/dev/runner'
/** The server says that it is alive every 15 seconds. */
const SILENT_MS = 40_000
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 5_000
const REPORT_TIMEOUT_MS = 10_000

/** The connection of `playhead dev` to the server. It is made again when it is lost, and nothing in between is missed. */
export class DevLink {
  readonly #settings: Settings
  readonly #about: Query
  readonly #headers = { 'x-playhead-runner': randomBytes(16).toString('base64url') }
  #api: Api | undefined
  #lastEventId = ''

  constructor(settings: Settings, about: Query) {
    this.#settings = settings
    this.#about = about
  }

  /**
   * Yields what the server wants. Throws if it can't be reached at first or refuses the terminal; later it tries again
   * until the signal ends it.
   */
  async *events(
    signal: AbortSignal,
    on: { lost(reason: string): void; back(): void },
  ): AsyncGenerator<DevEvent, void> {
    let isKnown = false
    let isLost = false
    for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        const blocks = await this.#connect(signal)
        isKnown = true
        if (isLost) on.back()
        isLost = false
        pauseMs = FIRST_PAUSE_MS
        for await (const block of blocks) {
          const event = parseEvent(block)
          if (event === undefined) continue
          this.#lastEventId = event.id
          yield event as DevEvent
        }
      } catch (error) {
        if (signal.aborted) return
        if (!isKnown || error instanceof RefusedError) throw error
        if (!isLost) on.lost(error instanceof Error ? error.message : String(error))
        isLost = true
      }
      await pause(pauseMs, undefined, { signal }).catch(() => undefined)
    }
  }

  /**
   * Tells the page how a job goes on, and tries again if the connection is lost. `unwanted`: the job has ended there, or
   * somebody else has it.
   */
  async report(jobId: string, report: JobReport): Promise<'done' | 'unwanted' | 'lost'> {
    for (let pauseMs = FIRST_PAUSE_MS; pauseMs <= LONGEST_PAUSE_MS; pauseMs *= 2) {
      const status = await this.#post(`/api/dev/jobs/${jobId}/events`, report)
      if (status !== undefined && status < 500) return status < 300 ? 'done' : 'unwanted'
      // Nobody knows whether it arrived, and a job must not be accepted twice.
      if (report.state === 'accepted') return 'lost'
      await pause(pauseMs)
    }
    return 'lost'
  }

  async #post(path: string, body: object): Promise<number | undefined> {
    const api = this.#api!
    try {
      const response = await fetch(api.url(path), {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...api.headers(), ...this.#headers },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(REPORT_TIMEOUT_MS),
      })
      await response.body?.cancel()
      return response.status
    } catch {
      return undefined
    }
  }

  /** Logs in each time: a login ends after an hour. */
  async #connect(signal: AbortSignal): Promise<AsyncIterable<string>> {
    this.#api = await Api.connect(this.#settings, 'admin')
    const silence = new AbortController()
    const either = AbortSignal.any([signal, silence.signal])
    const response = await fetch(this.#api.url(RUNNER, this.#about), {
      headers: {
        ...this.#api.headers(),
        ...this.#headers,
        ...(this.#lastEventId !== '' && { 'last-event-id': this.#lastEventId }),
      },
      signal: either,
    }).catch((error: unknown) => {
      throw connectionError(error, this.#settings.endpoint)
    })
    if (!response.ok) {
      const error = this.#api.responseError(RUNNER, response.status, await response.text())
      throw response.status < 500 ? new RefusedError(error.message) : error
    }
    return readBlocks(response.body!, silence)
  }
}

/** The server knows the terminal and does not want it. Trying again would not help. */
class RefusedError extends CliError {}

/** The text between empty lines. Ends the connection if the server falls silent. */
async function* readBlocks(
  body: ReadableStream<Uint8Array>,
  silence: AbortController,
): AsyncGenerator<string, void> {
  const fallSilent = () => silence.abort(new CliError('The server has been silent for too long.'))
  let timer = setTimeout(fallSilent, SILENT_MS)
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for await (const chunk of body) {
      clearTimeout(timer)
      timer = setTimeout(fallSilent, SILENT_MS)
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
      rest = blocks.pop() ?? ''
      yield* blocks
    }
  } finally {
    clearTimeout(timer)
  }
  throw new CliError('The server has closed the connection.')
}

/** Undefined for a comment. */
function parseEvent(block: string): { id: string; name: string; data: unknown } | undefined {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]
  const [id, name, data] = [field('id'), field('event'), field('data')]
  return id === undefined || name === undefined || data === undefined
    ? undefined
    : { id, name, data: JSON.parse(data) }
}
