import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { Api, type Access } from '../client/api.ts'
import type { Settings } from '../client/settings.ts'

type Message = {
  id?: string | number
  method?: string
  params?: { name?: unknown; uri?: unknown; _meta?: unknown; requestId?: unknown }
}

export type RelayOptions = {
  settings: Settings
  access: Access
  /** Sent with each request, such as the pairing with a terminal. */
  headers: Record<string, string>
  input: Readable
  /** Writes one line of the protocol. */
  write: (line: string) => void
}

/** What JSON-RPC calls an internal error. */
const INTERNAL_ERROR = -32_603
const PARSE_ERROR = -32_700
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion'

/**
 * Passes messages of the Model Context Protocol between stdin and the server's `/mcp`, one a line. The tools are the
 * server's, so they are the same over stdio and over HTTP. Ends when stdin has ended and all requests are answered.
 */
export class Relay {
  readonly #options: RelayOptions
  readonly #open = new Map<string | number, AbortController>()
  #api: Promise<Api> | undefined

  constructor(options: RelayOptions) {
    this.#options = options
  }

  async run(): Promise<void> {
    const running = new Set<Promise<void>>()
    for await (const line of createInterface({ input: this.#options.input })) {
      if (line.trim() === '') continue
      const work = this.#handle(line).finally(() => running.delete(work))
      running.add(work)
    }
    await Promise.all(running)
  }

  async #handle(line: string): Promise<void> {
    let message: Message
    try {
      message = JSON.parse(line) as Message
    } catch {
      return this.#fail(null, PARSE_ERROR, 'The line is not JSON.')
    }
    if (message.method === 'notifications/cancelled')
      this.#open.get(message.params?.requestId as string)?.abort()
    const { id, method } = message
    const stop = new AbortController()
    if (id !== undefined && method !== undefined) this.#open.set(id, stop)
    try {
      await this.#forward(line, message, stop.signal)
    } catch (error) {
      if (id !== undefined && method !== undefined && !stop.signal.aborted)
        this.#fail(id, INTERNAL_ERROR, error instanceof Error ? error.message : String(error))
    } finally {
      if (id !== undefined) this.#open.delete(id)
    }
  }

  async #forward(line: string, message: Message, signal: AbortSignal): Promise<void> {
    let response = await this.#post(line, message, signal)
    // A login ends after an hour.
    if (response.status === 401 && this.#options.settings.password !== undefined) {
      this.#api = undefined
      response = await this.#post(line, message, signal)
    }
    const type = response.headers.get('content-type') ?? ''
    if (type.startsWith('text/event-stream')) return this.#copyEvents(response)
    const text = await response.text()
    if (text === '') return
    if (isJsonRpc(text)) return this.#options.write(text)
    const api = await this.#connect()
    throw api.responseError('/mcp', response.status, text)
  }

  async #post(line: string, message: Message, signal: AbortSignal): Promise<Response> {
    const api = await this.#connect()
    try {
      return await fetch(api.url('/mcp'), {
        method: 'POST',
        headers: {
          ...api.headers(),
          ...this.#options.headers,
          ...headersOf(message),
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: line,
        signal,
      })
    } catch (error) {
      throw api.connectionError(error)
    }
  }

  #connect(): Promise<Api> {
    const { settings, access } = this.#options
    this.#api ??= Api.connect(settings, access).catch((error: unknown) => {
      // The server may start later.
      this.#api = undefined
      throw error
    })
    return this.#api
  }

  async #copyEvents(response: Response): Promise<void> {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of response.body ?? []) {
      const events = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n\r?\n/)
      rest = events.pop() ?? ''
      for (const event of events) {
        const data = event.split(/\r?\n/).flatMap((field) => /^data: ?(.*)$/.exec(field)?.[1] ?? [])
        if (data.join('') !== '') this.#options.write(data.join(''))
      }
    }
  }

  #fail(id: string | number | null, code: number, message: string): void {
    this.#options.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }))
  }
}

/** What the protocol repeats in headers since 2026-07-28. Messages of earlier versions have no such `_meta`. */
function headersOf({ method, params }: Message): Record<string, string> {
  const meta = params?._meta as Record<string, unknown> | undefined
  const version = meta?.[VERSION_KEY]
  if (typeof version !== 'string' || method === undefined) return {}
  const name = params?.name ?? params?.uri
  return {
    'mcp-protocol-version': version,
    'mcp-method': method,
    ...(typeof name === 'string' && /^[\x20-\x7E]+$/.test(name) && { 'mcp-name': name }),
  }
}

function isJsonRpc(text: string): boolean {
  try {
    const parsed = JSON.parse(text) as { jsonrpc?: string } | { jsonrpc?: string }[]
    return [parsed].flat().every(({ jsonrpc }) => jsonrpc === '2.0')
  } catch {
    return false
  }
}
