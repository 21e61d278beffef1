import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import type { Agent, ClientRequest, RequestOptions } from 'node:http'
import type { Duplex } from 'node:stream'
import { tapeOfRequest } from '../record/session/active-tape.ts'
import { isOwnConnection, onNetwork } from '../record/session/own-connection.ts'
import { bridge } from './forward-request.ts'
import { MemorySocket } from './memory-socket.ts'
import { replaceMethod, type AnyMethod } from './replace-method.ts'
import { serveConnection, serveHttp1, type Connection } from './serve-connection.ts'

/**
 * Gives clients connections within this process while a tape is active: node:http through its agents, everything else
 * where it opens a socket. Returns a function that undoes it.
 */
export function hookSockets(): () => void {
  const http = process.getBuiltinModule('node:http')
  const net = process.getBuiltinModule('node:net')
  const tls = process.getBuiltinModule('node:tls')
  const { syncBuiltinESMExports } = process.getBuiltinModule('node:module')
  const open = new Map<Duplex, Connection>()
  const undo = [
    replaceMethod(http.Agent.prototype, 'addRequest', (original) => addRequest(original, open)),
    replaceMethod(net, 'connect', (original) => connect(original, { isSecure: false, open })),
    replaceMethod(net, 'createConnection', (original) => connect(original, { isSecure: false, open })),
    replaceMethod(tls, 'connect', (original) => connect(original, { isSecure: true, open })),
  ]
  syncBuiltinESMExports()
  return () => {
    for (const restore of undo.toReversed()) restore()
    syncBuiltinESMExports()
    // Pools keep connections; the next request must not end here.
    for (const socket of open.keys()) socket.destroy()
  }
}

type Open = Map<Duplex, Connection>

function track(connection: Connection, open: Open): void {
  open.set(connection.client, connection)
  connection.client.once('close', () => open.delete(connection.client))
}

/** Requests of node:http and node:https, whoever made them and however their agents keep sockets. */
function addRequest(original: AnyMethod, open: Open): AnyMethod {
  return function addTapedRequest(this: Agent, request: ClientRequest, options: RequestOptions, ...rest) {
    const passOn = () => original.call(this, request, options, ...rest) as unknown
    const isOwn = isOwnConnection(options) || isOwnConnection((this as { options?: unknown }).options)
    const tape = isOwn ? undefined : tapeOfRequest()
    if (tape === undefined) return passOn()
    // A WebSocket becomes something else than HTTP.
    if (!tape.isStrict && request.hasHeader('upgrade')) return onNetwork(passOn)
    const isSecure = request.protocol === 'https:'
    const host = request.host ?? 'localhost'
    const { client, server } = MemorySocket.createPair({
      isSecure,
      host,
      port: Number(options.port ?? (isSecure ? 443 : 80)),
      alpnProtocol: isSecure ? 'http/1.1' : undefined,
    })
    const module = process.getBuiltinModule(isSecure ? 'node:https' : 'node:http')
    const connection: Connection = {
      client,
      server,
      tape,
      isSecure,
      target: host,
      inCaller: AsyncLocalStorage.snapshot(),
      open: () => Promise.reject(new Error('It has an agent of its own.')),
      send: (live) => module.request({ ...options, ...live, agent: this }),
    }
    track(connection, open)
    serveHttp1(connection)
    const { timeout } = request as { timeout?: number }
    if (timeout !== undefined && timeout > 0) client.setTimeout(timeout)
    request.onSocket(client as never)
  }
}

/** Clients that open their sockets themselves: undici, HTTP/2, proxies, databases. */
function connect(original: AnyMethod, { isSecure, open }: { isSecure: boolean; open: Open }): AnyMethod {
  return function connectTaped(this: unknown, ...args: unknown[]) {
    const { options, onConnect } = readArguments(args)
    const under = options.socket
    const tape =
      isOwnConnection(options) || (options.path !== undefined && under === undefined)
        ? undefined
        : tapeOfRequest()
    if (tape === undefined) return original.apply(this, args) as unknown
    const { servername, host = servername ?? 'localhost', port = isSecure ? 443 : 80 } = options
    const { client, server } = MemorySocket.createPair({
      isSecure,
      host,
      port: Number(port),
      alpnProtocol: isSecure ? agreeOnProtocol(options.ALPNProtocols) : undefined,
    })
    if (onConnect !== undefined) client.once(isSecure ? 'secureConnect' : 'connect', onConnect)
    const event = isSecure ? 'secureConnect' : 'connect'
    const lower = under === undefined ? undefined : open.get(under)
    const connection: Connection = {
      client,
      server,
      tape,
      isSecure,
      target: `${host}:${port}`,
      inCaller: AsyncLocalStorage.snapshot(),
      open: async () => {
        if (lower !== undefined) await bridge(lower)
        const socket = onNetwork(() => original.call(this, options) as Duplex)
        await once(socket, event)
        return socket
      },
    }
    if (lower !== undefined) lower.isTaken = true
    if (under !== undefined) client.once('close', () => under.destroy())
    track(connection, open)
    void serveConnection(connection)
    return client
  }
}

/** HTTP/1 if the client takes it, because that is what a tape is recorded from. */
function agreeOnProtocol(offered: unknown): string | false {
  const protocols = Array.isArray(offered) ? offered.map(String) : []
  if (protocols.includes('http/1.1')) return 'http/1.1'
  return protocols.includes('h2') ? 'h2' : false
}

type ConnectOptions = {
  host?: string
  port?: number | string
  path?: string
  servername?: string
  socket?: Duplex
  ALPNProtocols?: unknown
}

/** `(options)`, `(port, host?)` or `(path)`, and TLS also `(port, host?, options)`; each with a listener. */
export function readArguments(args: unknown[]): { options: ConnectOptions; onConnect?: () => void } {
  // Node passes its own calls on as a list.
  if (Array.isArray(args[0])) return readArguments(args[0])
  const options: ConnectOptions = {}
  let onConnect: (() => void) | undefined
  for (const [index, value] of args.entries()) {
    if (typeof value === 'function') onConnect = value as () => void
    else if (typeof value === 'object' && value !== null) Object.assign(options, value)
    else if (typeof value === 'number' || (index === 0 && Number(value) >= 0)) options.port = Number(value)
    else if (typeof value === 'string') options[index === 0 ? 'path' : 'host'] = value
  }
  return { options, ...(onConnect !== undefined && { onConnect }) }
}
