import { once } from 'node:events'
import type { ClientRequest, IncomingMessage, RequestOptions, ServerResponse } from 'node:http'
import type { Http2ServerResponse } from 'node:http2'
import type { Duplex } from 'node:stream'
import { safeTap } from '../capture/hooks/serve-response.ts'
import { keepSentRequest, SENT_HEADER } from '../capture/calls/sent-request.ts'
import { toHeaders } from '../capture/hooks/request-parts.ts'
import type { TapeAnswer, TapeRequest } from '../record/session/active-tape.ts'
import { onNetwork } from '../record/session/own-connection.ts'
import type { Connection } from './serve-connection.ts'

/** Sends a request over HTTP/1 to where the host wanted it to go. */
export type SendRequest = (options: RequestOptions) => ClientRequest | Promise<ClientRequest>

type Forwarded = {
  connection: Connection
  asked: TapeRequest
  answer: Extract<TapeAnswer, { kind: 'live' }>
  response: ServerResponse | Http2ServerResponse
}

/** Sends the host's request over the network after all, and passes on what comes back. */
export async function forwardRequest(forwarded: Forwarded): Promise<void> {
  const { asked, answer, response } = forwarded
  const body = answer.body ?? asked.body
  const url = answer.url ?? asked.url
  const headers = { ...asked.headers }
  if (answer.body !== undefined) {
    delete headers['transfer-encoding']
    headers['content-length'] = String(body.byteLength)
  }
  if (answer.tap !== undefined) headers['accept-encoding'] = 'identity'
  const path = `${url.pathname}${url.search}`
  const sent = answer.body === undefined ? undefined : keepSentRequest({ url, body })
  if (sent !== undefined) response.on('close', () => sent.forget())
  const marks: Record<string, string> = sent === undefined ? {} : { [SENT_HEADER]: sent.id }
  const request = { method: asked.method, path, headers, body, marks }
  if ('stream' in response) await forwardHttp2(forwarded, request)
  else await forwardHttp1({ ...forwarded, response }, request)
}

type LiveRequest = {
  method: string
  path: string
  headers: Record<string, string>
  body: Uint8Array
  /** Added to the response, for capture. */
  marks: Record<string, string>
}

async function forwardHttp1(
  { connection, answer, response }: Forwarded & { response: ServerResponse },
  { body, marks, ...options }: LiveRequest,
): Promise<void> {
  const tap = safeTap(answer.tap)
  const send = connection.send ?? ((request) => sendOver(connection, request))
  const fail = (error: Error) => {
    tap.onEnd(error)
    connection.client.destroy(error)
  }
  const outgoing = await onNetwork(async () => send(options)).catch(fail)
  if (outgoing === undefined) return
  outgoing.on('error', fail)
  outgoing.on('response', (incoming: IncomingMessage) => {
    const { statusCode = 0, statusMessage = '', rawHeaders } = incoming
    tap.onHead(statusCode, toHeaders(rawHeaders))
    const own = Object.entries({ ...marks, connection: 'close' }).flat()
    response.writeHead(statusCode, statusMessage, [...withoutHops(rawHeaders), ...own])
    incoming.on('data', (chunk: Uint8Array) => tap.onChunk(Uint8Array.from(chunk)))
    incoming.on('end', () => tap.onEnd())
    incoming.on('error', (error) => {
      tap.onEnd(error)
      response.destroy(error)
    })
    incoming.pipe(response)
  })
  response.on('close', () => {
    if (!response.writableFinished) outgoing.destroy(new Error('The host aborted the request.'))
  })
  outgoing.end(body)
}

async function sendOver(connection: Connection, options: RequestOptions): Promise<ClientRequest> {
  const socket = await connection.open()
  const { request } = process.getBuiltinModule('node:http')
  return request({ ...options, createConnection: () => socket })
}

const hops = new Set(['connection', 'keep-alive', 'transfer-encoding', 'proxy-connection', 'upgrade'])

/** Without the headers that speak about the connection. */
function withoutHops(rawHeaders: readonly string[]): string[] {
  const kept: string[] = []
  for (let index = 0; index + 1 < rawHeaders.length; index += 2)
    if (!hops.has(rawHeaders[index]!.toLowerCase())) kept.push(rawHeaders[index]!, rawHeaders[index + 1]!)
  return kept
}

async function forwardHttp2(
  { connection, asked, answer, response }: Forwarded,
  { method, path, headers, body, marks }: LiveRequest,
): Promise<void> {
  const tap = safeTap(answer.tap)
  const host = response as Http2ServerResponse
  const socket = await connection.open().catch((error: Error) => {
    tap.onEnd(error)
    throw error
  })
  const { connect } = process.getBuiltinModule('node:http2')
  const session = onNetwork(() => connect(asked.url.origin, { createConnection: () => socket }))
  const { host: authority = asked.url.host, ...fields } = headers
  for (const name of hops) delete fields[name]
  const outgoing = session.request({ ...fields, ':method': method, ':path': path, ':authority': authority })
  const fail = (error: Error) => {
    tap.onEnd(error)
    host.stream.destroy(error)
    session.destroy()
  }
  session.on('error', fail)
  outgoing.on('error', fail)
  outgoing.on('response', ({ ':status': status = 0, ...rest }) => {
    const received = Object.fromEntries(Object.entries(rest).filter(([name]) => !name.startsWith(':')))
    tap.onHead(status, toHeaders(received))
    host.writeHead(status, { ...(received as Record<string, string>), ...marks })
    outgoing.pipe(host)
  })
  outgoing.on('data', (chunk: Uint8Array) => tap.onChunk(Uint8Array.from(chunk)))
  outgoing.on('end', () => {
    tap.onEnd()
    session.close()
  })
  host.on('close', () => outgoing.destroy())
  outgoing.end(body)
}

/** Connects both ends: from here on the host talks to the network. */
export async function bridge(connection: Connection): Promise<void> {
  const { client, server } = connection
  try {
    const network = await openTunnel(connection)
    server.pipe(network).pipe(server)
    network.on('error', (error) => client.destroy(error))
    network.on('close', () => server.destroySoon())
    client.on('close', () => network.destroy())
  } catch (error) {
    client.destroy(error as Error)
  }
}

/** Opens the connection, through the proxy if the host asked one to connect. */
export async function openTunnel(connection: Connection): Promise<Duplex> {
  const socket = await connection.open()
  if (connection.tunnel === undefined) return socket
  const { url, headers } = connection.tunnel
  const { request } = process.getBuiltinModule('node:http')
  const asked = onNetwork(() =>
    request({ method: 'CONNECT', path: url, headers, createConnection: () => socket }).end(),
  )
  const [response, tunnel] = (await once(asked, 'connect')) as [IncomingMessage, Duplex]
  if (response.statusCode !== 200)
    throw new Error(`The proxy refused the connection to ${url}: ${response.statusCode}.`)
  return tunnel
}
