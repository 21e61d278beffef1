import { Buffer } from 'node:buffer'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { Duplex } from 'node:stream'
import { clearTimeout, setImmediate, setTimeout } from 'node:timers'
import { ABORT_WAIT_MS, servedHeaders } from '../capture/hooks/serve-response.ts'
import { requestUrl, toHeaders } from '../capture/hooks/request-parts.ts'
import type { ActiveTape, ServedResponse, TapeRequest } from '../record/session/active-tape.ts'
import { bridge, forwardRequest, type SendRequest } from './forward-request.ts'
import type { MemorySocket } from './memory-socket.ts'
import { explainWebSocket } from './other-request.ts'
import { refuse } from './refusal.ts'

/** A connection that the host believes to have, and whose other end is here. */
export type Connection = {
  client: MemorySocket
  server: MemorySocket
  tape: ActiveTape
  isSecure: boolean
  /** How the host would name its other end. */
  target: string
  inCaller: <Result>(run: () => Result) => Result
  /** Opens the connection that the host wanted. */
  open: () => Promise<Duplex>
  /** Sends a request over the network instead; by default over the connection that `open` gives. */
  send?: SendRequest
  /** True once another connection speaks TLS over this one. */
  isTaken?: boolean
  /** The host that a proxy was asked to connect to. */
  tunnel?: { url: string; headers: Record<string, string> }
}

/** A protocol in which the server speaks first is no HTTP. */
const SILENCE_MS = 500

/** Answers what the host sends over a connection, if it is HTTP. Anything else is refused, or bridged to the network. */
export async function serveConnection(connection: Connection): Promise<void> {
  const { server, tape } = connection
  const protocol = await detectProtocol(connection)
  if (server.destroyed || connection.isTaken === true) return
  if (protocol === 'http1') return serveHttp1(connection)
  if (protocol === 'http2') return serveHttp2(connection)
  if (!tape.isStrict) return bridge(connection)
  const sentence = `The run opened a connection to ${connection.target} that does not speak HTTP, and a tape has only HTTP. Record what uses it with recordTool.`
  connection.client.destroy(connection.inCaller(() => refuse(sentence, tape)))
}

export function serveHttp1(connection: Connection): void {
  const { createServer } = process.getBuiltinModule('node:http')
  const server = createServer({ maxHeaderSize: 1024 * 1024 }, (request, response) =>
    answer(connection, request, response),
  )
  server.on('connect', (request: IncomingMessage, socket: MemorySocket) => {
    connection.tunnel = { url: request.url ?? '', headers: toHeaders(request.headers) }
    connection.target = connection.tunnel.url
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    void serveConnection(connection)
  })
  server.on('upgrade', (request: IncomingMessage, socket: MemorySocket) => {
    const sentence = explainWebSocket(connection.target)
    const { message } = connection.inCaller(() => refuse(sentence, connection.tape))
    socket.end(
      `HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(message)}\r\n\r\n${message}`,
    )
  })
  server.emit('connection', connection.server)
}

function serveHttp2(connection: Connection): void {
  const { createServer } = process.getBuiltinModule('node:http2')
  const server = createServer((request, response) => answer(connection, request, response))
  connection.server.alpnProtocol = 'h2'
  server.on('sessionError', (error: Error) => connection.client.destroy(error))
  server.emit('connection', connection.server)
}

type Protocol = 'http1' | 'http2' | 'other'

async function detectProtocol({ server, tape }: Connection): Promise<Protocol> {
  const silence = new AbortController()
  const timer = setTimeout(() => silence.abort(), SILENCE_MS)
  try {
    await once(server, 'readable', { signal: silence.signal })
  } catch {
    return 'other'
  } finally {
    clearTimeout(timer)
  }
  const bytes = server.read() as Buffer | null
  if (bytes === null) return 'other'
  server.unshift(bytes)
  const text = bytes.subarray(0, 16 * 1024).toString('latin1')
  if (text.startsWith('PRI * HTTP/2.0')) return 'http2'
  if (!/^[A-Z-]{3,20} \S/.test(text)) return 'other'
  const isUpgrade = /\r\nupgrade: *\w/i.test(text)
  return isUpgrade && !tape.isStrict ? 'other' : 'http1'
}

type HostRequest = IncomingMessage | Http2ServerRequest
type HostResponse = ServerResponse | Http2ServerResponse

function answer(connection: Connection, request: HostRequest, response: HostResponse): void {
  respond(connection, request, response).catch((error: unknown) => {
    connection.client.destroy(error instanceof Error ? error : new Error(String(error)))
  })
}

async function respond(connection: Connection, request: HostRequest, response: HostResponse): Promise<void> {
  const asked = await readRequest(connection, request)
  if (asked === undefined) return
  const taped = await connection.inCaller(() => connection.tape.respond(asked))
  if (response.destroyed) return
  if (taped.kind === 'live') return forwardRequest({ connection, asked, answer: taped, response })
  if (taped.kind === 'response') return sendTaped(response, taped)
  connection.client.destroy(Object.assign(new Error(taped.message), { code: taped.code }))
}

/** Undefined if the host gave up meanwhile. */
async function readRequest(
  { isSecure, tunnel, target }: Connection,
  request: HostRequest,
): Promise<TapeRequest | undefined> {
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of request) chunks.push(chunk as Uint8Array)
  } catch {
    return undefined
  }
  const { method = 'GET', url: path } = request
  const fields = Object.entries(request.headers).filter(([name]) => !name.startsWith(':'))
  const headers = toHeaders(Object.fromEntries(fields))
  const host = request.headers[':authority'] ?? headers.host ?? tunnel?.url ?? target
  const url = requestUrl(`${isSecure ? 'https' : 'http'}://${String(host)}`, path)
  if (url === undefined) throw new Error(`"${String(host)}${path}" is not an address.`)
  return { method, url, headers, body: Buffer.concat(chunks) }
}

async function sendTaped(
  response: HostResponse,
  { status, headers, chunks, isAborted, failure }: Extract<ServedResponse, { kind: 'response' }>,
): Promise<void> {
  const writable = response as ServerResponse
  const isHttp2 = 'stream' in response
  // The next request may be one of another run, so it gets a connection of its own.
  writable.writeHead(status, { ...servedHeaders(headers), ...(!isHttp2 && { connection: 'close' }) })
  for (const chunk of chunks) {
    if (!writable.write(Buffer.from(chunk)))
      await Promise.race([once(writable, 'drain'), once(writable, 'close')])
    await new Promise<void>((resolve) => setImmediate(resolve))
    if (writable.destroyed) return
  }
  if (isAborted !== true) return void writable.end()
  if (failure !== undefined) return void writable.destroy()
  const timer = setTimeout(() => writable.destroy(), ABORT_WAIT_MS)
  writable.once('close', () => clearTimeout(timer))
}
