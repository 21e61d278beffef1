import { CliError } from '../terminal/cli-error.ts'
import type { Settings } from './settings.ts'

/**
 * What a command needs: to `read` a project's sessions, to be its `admin`, or to be a person who may do what concerns
 * the whole `server`, which no key may.
 */
export type Access = 'read' | 'admin' | 'server'

export type Query = { readonly [name: string]: string | readonly string[] | undefined }

type RequestOptions = {
  method?: 'GET' | 'POST' | 'DELETE'
  query?: Query
  /** Sent as JSON. */
  body?: unknown
  signal?: AbortSignal
}

/** The server, asked as whoever the settings say. An answer that is an error is thrown with what the server said. */
export class Api {
  readonly settings: Settings
  readonly #access: Access
  /** The header that says who asks. */
  #credentials: Record<string, string> = {}

  private constructor(settings: Settings, access: Access) {
    this.settings = settings
    this.#access = access
  }

  /** Chooses between key and password, and logs in when the server wants it. */
  static async connect(settings: Settings, access: Access): Promise<Api> {
    const api = new Api(settings, access)
    const { apiKey, password } = settings
    const isKeyPreferred = access === 'read'
    if (password !== undefined && !(isKeyPreferred && apiKey !== undefined)) await api.#logIn(password)
    // Without auth everybody may do everything, but who sends a key is held to what the key may do.
    else if (apiKey !== undefined && access !== 'server')
      api.#credentials = { authorization: `Bearer ${apiKey}` }
    return api
  }

  async json<Answer>(path: string, options: RequestOptions = {}): Promise<Answer> {
    const response = await this.#request(path, options)
    try {
      return (await response.json()) as Answer
    } catch (error) {
      throw error instanceof SyntaxError
        ? this.#notPlayhead(path, response.status)
        : this.#explain(error, options)
    }
  }

  /** The answer piece by piece, for what is too large to hold. */
  async *stream(path: string, options: RequestOptions = {}): AsyncGenerator<Uint8Array, void> {
    const response = await this.#request(path, options)
    try {
      for await (const chunk of response.body ?? []) yield chunk
    } catch (error) {
      throw this.#explain(error, options)
    }
  }

  url(path: string, query: Query = {}): URL {
    const url = new URL(this.settings.endpoint + path)
    for (const [name, value] of Object.entries({ ...query, project: this.settings.project })) {
      for (const one of Array.isArray(value) ? value : [value])
        if (one !== undefined) url.searchParams.append(name, one)
    }
    return url
  }

  headers(): Record<string, string> {
    return { ...this.#credentials }
  }

  /** The error that a refused request is. */
  refusal(path: string, status: number, body: string): CliError {
    const answer = readError(body)
    if (answer === undefined) return this.#notPlayhead(path, status)
    const wayOut = this.#wayOut(answer.code)
    return new CliError(wayOut === undefined ? answer.message : `${answer.message}\n${wayOut}`)
  }

  async #request(path: string, options: RequestOptions): Promise<Response> {
    const { method = 'GET', query, body, signal } = options
    let response: Response
    try {
      response = await fetch(this.url(path, query), {
        method,
        headers: { ...this.#credentials, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal !== undefined && { signal }),
      })
    } catch (error) {
      throw this.#explain(error, options)
    }
    if (response.ok) return response
    throw this.refusal(path, response.status, await response.text())
  }

  async #logIn(password: string): Promise<void> {
    const { isAuthOn } = await this.json<{ isAuthOn: boolean }>('/api/me')
    if (!isAuthOn) return
    const response = await this.#request('/api/login', { method: 'POST', body: { password } })
    await response.body?.cancel()
    const cookie = response.headers.getSetCookie().map((header) => header.split(';', 1)[0])
    this.#credentials = { cookie: cookie.join('; ') }
  }

  #wayOut(code: string): string | undefined {
    const isKeySent = this.#credentials.authorization !== undefined
    const isLogInPossible = this.settings.password === undefined
    if (code === 'UNAUTHORIZED' && this.#access === 'read' && !isKeySent && isLogInPossible)
      return 'Give a key: --api-key or PLAYHEAD_API_KEY.'
    const isRefused = code === 'UNAUTHORIZED' || code === 'FORBIDDEN'
    if (isRefused && this.#access !== 'read' && isLogInPossible)
      return "Give the server's password: --password or PLAYHEAD_PASSWORD."
    return undefined
  }

  #explain(error: unknown, { signal }: RequestOptions): unknown {
    return signal?.aborted === true ? error : connectionError(error, this.settings.endpoint)
  }

  #notPlayhead(path: string, status: number): CliError {
    return new CliError(
      `${this.settings.endpoint} answers, but not as Playhead does (${status} for ${path}). Another program may listen there: an OpenTelemetry Collector uses the same port.`,
    )
  }
}

function readError(body: string): { code: string; message: string } | undefined {
  let answer: unknown
  try {
    answer = JSON.parse(body)
  } catch {
    return undefined
  }
  const error = (answer as { error?: { code?: unknown; message?: unknown } } | null)?.error
  if (typeof error?.code !== 'string' || typeof error.message !== 'string') return undefined
  return { code: error.code, message: error.message }
}

const nobodyThere = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
])
nobodyThere.add('UND_ERR_CONNECT_TIMEOUT')

const DEFAULT_PORT = '4318'

/** Why the server could not be reached, or was lost, and what to do. */
export function connectionError(error: unknown, endpoint: string): CliError {
  const reason = deepestCause(error)
  const code = 'code' in reason ? String(reason.code) : ''
  if (!nobodyThere.has(code))
    return new CliError(`The connection to ${endpoint} failed: ${reason.message || code}`, { cause: error })
  const { hostname, port } = new URL(endpoint)
  const isLocal = /^(localhost|127\..*|\[::1\])$/.test(hostname)
  const wayOut = isLocal
    ? `Start it with: npx playhead serve${port === DEFAULT_PORT ? '' : ` --port ${port || '80'}`}`
    : `Check the address (--endpoint or PLAYHEAD_ENDPOINT) and the network (${code}).`
  return new CliError(`Nothing answers at ${endpoint}. ${wayOut}`, { cause: error })
}

/** `fetch` wraps what happened: "fetch failed" says nothing. */
function deepestCause(error: unknown): Error {
  let reason = error
  while (reason instanceof Error && reason.cause instanceof Error) reason = reason.cause
  return reason instanceof Error ? reason : new Error(String(reason))
}
