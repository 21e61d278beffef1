import packageJson from '../../../package.json' with { type: 'json' }
import { CliError } from '../terminal/cli-error.ts'
import type { Settings } from './settings.ts'

/** What a command needs: to `read` sessions, to `admin` a project, or to manage the whole `server`, which only the password allows. */
export type Access = 'read' | 'admin' | 'server'

export type Query = { readonly [name: string]: string | readonly string[] | undefined }

type RequestOptions = {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  query?: Query
  /** Sent as JSON. */
  body?: unknown
  signal?: AbortSignal
}

/** Long enough for any command; each one logs in anew. */
const LOGIN_LASTS_SECONDS = 3_600

/** HTTP client for the server. Error responses are thrown as a `CliError` with the server's message. */
export class Api {
  readonly settings: Settings
  readonly #access: Access
  #credentials: Record<string, string> = {}

  private constructor(settings: Settings, access: Access) {
    this.settings = settings
    this.#access = access
  }

  /** Picks the key or the password, and logs in if the server requires it. */
  static async connect(settings: Settings, access: Access): Promise<Api> {
    const api = new Api(settings, access)
    const { apiKey, password } = settings
    const isKeyPreferred = access === 'read'
    if (password !== undefined && !(isKeyPreferred && apiKey !== undefined)) await api.#logIn(password)
    // A server without auth allows everything, but still limits a request with a key to that key's scopes.
    else if (apiKey !== undefined && access !== 'server')
      api.#credentials = { authorization: `Bearer ${apiKey}` }
    return api
  }

  async json<Body>(path: string, options: RequestOptions = {}): Promise<Body> {
    const response = await this.#request(path, options)
    try {
      return (await response.json()) as Body
    } catch (error) {
      throw error instanceof SyntaxError
        ? this.#notPlayhead(path, response.status)
        : this.#explain(error, options)
    }
  }

  /** Streams a response that may be too large for memory. */
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

  /** Turns an error response into an error. */
  responseError(path: string, status: number, body: string): CliError {
    const error = parseError(body)
    if (error === undefined) return this.#notPlayhead(path, status)
    return new CliError([error.message, ...this.#loginHint(error.code)].join('\n'))
  }

  async #request(path: string, options: RequestOptions): Promise<Response> {
    const { method = 'GET', query, body, signal } = options
    let response: Response
    try {
      response = await fetch(this.url(path, query), {
        method,
        headers: {
          'user-agent': `playhead/${packageJson.version}`,
          ...this.#credentials,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal !== undefined && { signal }),
      })
    } catch (error) {
      throw this.#explain(error, options)
    }
    if (response.ok) return response
    throw this.responseError(path, response.status, await response.text())
  }

  async #logIn(password: string): Promise<void> {
    const { isAuthOn } = await this.json<{ isAuthOn: boolean }>('/api/me')
    if (!isAuthOn) return
    const response = await this.#request('/api/login', {
      method: 'POST',
      body: { password, lastsSeconds: LOGIN_LASTS_SECONDS },
    })
    await response.body?.cancel()
    const cookie = response.headers.getSetCookie().map((header) => header.split(';', 1)[0])
    this.#credentials = { cookie: cookie.join('; ') }
  }

  #loginHint(code: string): string[] {
    if (this.settings.password !== undefined) return []
    const isKeySent = this.#credentials.authorization !== undefined
    if (code === 'UNAUTHORIZED' && this.#access === 'read' && !isKeySent)
      return ['Pass a key with --api-key or PLAYHEAD_API_KEY.']
    if ((code === 'UNAUTHORIZED' || code === 'FORBIDDEN') && this.#access !== 'read')
      return ["Pass the server's password with --password or PLAYHEAD_PASSWORD."]
    return []
  }

  /** What it means that a request got no response. */
  connectionError(error: unknown): unknown {
    return connectionError(error, this.settings.endpoint)
  }

  #explain(error: unknown, { signal }: RequestOptions): unknown {
    return signal?.aborted === true ? error : this.connectionError(error)
  }

  #notPlayhead(path: string, status: number): CliError {
    return new CliError(
      `${this.settings.endpoint} responded, but not like a Playhead server (${status} for ${path}). Another program may be using the port: an OpenTelemetry Collector also listens on 4318.`,
    )
  }
}

function parseError(body: string): { code: string; message: string } | undefined {
  let response: unknown
  try {
    response = JSON.parse(body)
  } catch {
    return undefined
  }
  const error = (response as { error?: { code?: unknown; message?: unknown } } | null)?.error
  if (typeof error?.code !== 'string' || typeof error.message !== 'string') return undefined
  return { code: error.code, message: error.message }
}

const unreachable = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
])

const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** What a client sees that speaks HTTP to a server that speaks TLS, and the other way round. */
const wrongProtocol = new Map([
  ['UND_ERR_SOCKET', 'https'],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', 'http'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'http'],
])

const DEFAULT_PORT = '4318'

/** Explains a failed or lost connection and what to do about it. */
export function connectionError(error: unknown, endpoint: string): CliError {
  const reason = deepestCause(error)
  const code = 'code' in reason ? String(reason.code) : ''
  if (!unreachable.has(code)) {
    const failed = `The connection to ${endpoint} failed: ${reason.message || code}`
    return new CliError([failed, ...tlsHint(code, endpoint)].join('\n'), { cause: error })
  }
  const { hostname, port } = new URL(endpoint)
  const isLocal = /^(localhost|127\..*|\[::1\])$/.test(hostname)
  const hint = isLocal
    ? `Start a server with: npx playhead serve${port === DEFAULT_PORT ? '' : ` --port ${port || '80'}`}`
    : `Check the URL (--endpoint or PLAYHEAD_ENDPOINT) and your network (${code}).`
  return new CliError(`Can't connect to ${endpoint}. ${hint}`, { cause: error })
}

function tlsHint(code: string, endpoint: string): string[] {
  if (untrusted.has(code))
    return [
      'This machine does not trust the certificate. If a private CA issued it: NODE_EXTRA_CA_CERTS=ca.pem playhead …',
    ]
  const other = wrongProtocol.get(code)
  return other === undefined || endpoint.startsWith(`${other}:`)
    ? []
    : [`If the server uses ${other}, set the URL to ${endpoint.replace(/^https?/, other)}.`]
}

/** `fetch` reports only "fetch failed" and wraps the reason. */
function deepestCause(error: unknown): Error {
  let reason = error
  while (reason instanceof Error && reason.cause instanceof Error) reason = reason.cause
  return reason instanceof Error ? reason : new Error(String(reason))
}
