import { Buffer } from 'node:buffer'
import { existsSync } from 'node:fs'
import { isIP, type Socket } from 'node:net'
import { visibleText } from '@playhead/model'
import { tapeOfRequest } from '../record/session/active-tape.ts'
import { isOwnConnection, onNetwork, OWN_CONNECTION } from '../record/session/own-connection.ts'
import { readArguments } from './hook-sockets.ts'
import { refuse } from './refusal.ts'
import { replaceMethod, type AnyMethod } from './replace-method.ts'

/** True where nothing may reach the network. */
export function isWallUp(): boolean {
  return tapeOfRequest()?.isStrict === true
}

/**
 * Refuses connections, datagrams and lookups of a strict run, however they are made. HTTP is answered before it gets
 * here. Returns a function that undoes it.
 */
export function buildWall(): () => void {
  const net = process.getBuiltinModule('node:net')
  const dgram = process.getBuiltinModule('node:dgram')
  const dns = process.getBuiltinModule('node:dns')
  const { syncBuiltinESMExports } = process.getBuiltinModule('node:module')
  const undo = [
    replaceMethod(net.Socket.prototype, 'connect', refuseConnection),
    replaceMethod(net.Socket.prototype, '_writeGeneric', refuseReuse),
    replaceMethod(dgram.Socket.prototype, 'send', refuseDatagram),
    replaceMethod(dgram.Socket.prototype, 'connect', refuseDatagram),
    ...refuseLookups(dns, (original) => refuseLookup(original, answerCallback)),
    ...refuseLookups(dns.Resolver.prototype, (original) => refuseLookup(original, answerCallback)),
    ...refuseLookups(dns.promises, (original) => refuseLookup(original, answerPromise)),
    ...refuseLookups(dns.promises.Resolver.prototype, (original) => refuseLookup(original, answerPromise)),
  ]
  syncBuiltinESMExports()
  return () => {
    for (const restore of undo.toReversed()) restore()
    syncBuiltinESMExports()
  }
}

/** Every TCP, TLS and HTTP/2 client ends here. */
function refuseConnection(original: AnyMethod): AnyMethod {
  return function connect(this: Socket, ...args) {
    const { options } = readArguments(args)
    const passOn = () => original.apply(this, args) as unknown
    if (isOwnConnection(options)) {
      Object.assign(this, { [OWN_CONNECTION]: true })
      return onNetwork(passOn)
    }
    const { path, host = 'localhost', port } = options
    // What is not there fails by itself, and nobody meant to reach the network.
    if (!isWallUp() || (path !== undefined && !existsSync(path))) return passOn()
    const target = visibleText(path ?? `${host}:${port}`)
    const error = refuse(
      `The run tried to connect to ${target}, which is not on the tape. Record what makes the connection with recordTool.`,
    )
    process.nextTick(() => this.destroy(error))
    return this
  }
}

const requestHead = /^[A-Z]{3,10} \S+ HTTP\/1/

/** Pools of clients may have connections from before the tape. Closing one makes the client open another. */
function refuseReuse(original: AnyMethod): AnyMethod {
  return function writeUnlessReused(this: Socket, ...args) {
    const [isMany, data, , done] = args as [boolean, unknown, unknown, (error: Error) => void]
    const isOpen = OWN_CONNECTION in this || !isWallUp() || this.remoteAddress === undefined
    if (isOpen || !requestHead.test(headOf(isMany ? (data as unknown[])[0] : data)))
      return original.apply(this, args) as unknown
    const message = 'The connection was opened before the tape was active, so it is closed.'
    done(Object.assign(new Error(message), { code: 'ECONNRESET' }))
    return undefined
  }
}

function headOf(data: unknown): string {
  const bytes: unknown = typeof data === 'object' && data !== null && 'chunk' in data ? data.chunk : data
  if (typeof bytes === 'string') return bytes.slice(0, 2000)
  return bytes instanceof Uint8Array ? Buffer.from(bytes.subarray(0, 2000)).toString('latin1') : ''
}

function refuseDatagram(original: AnyMethod): AnyMethod {
  return function send(this: NodeJS.EventEmitter, ...args) {
    if (!isWallUp()) return original.apply(this, args) as unknown
    const error = refuse('The run tried to send a datagram, which is not on the tape.')
    const onDone: unknown = args.findLast((argument) => typeof argument === 'function')
    process.nextTick(() => {
      if (typeof onDone === 'function') onDone(error)
      else this.emit('error', error)
    })
    return undefined
  }
}

function refuseLookups(holder: object, create: (original: AnyMethod) => AnyMethod): (() => void)[] {
  return Object.getOwnPropertyNames(holder)
    .filter((name) => /^(?:lookup|resolve|reverse)/.test(name))
    .map((name) => replaceMethod(holder, name, create))
}

/** Names of this machine need no network. */
function isLocal(name: unknown): boolean {
  return typeof name !== 'string' || name === 'localhost' || isIP(name) !== 0
}

function refuseLookup(original: AnyMethod, answer: (args: unknown[], error: Error) => unknown): AnyMethod {
  return function lookup(this: unknown, ...args) {
    if (!isWallUp() || isLocal(args[0])) return original.apply(this, args) as unknown
    const name = visibleText(String(args[0]))
    return answer(args, refuse(`The run tried to look up ${name}, which is not on the tape.`))
  }
}

function answerCallback(args: unknown[], error: Error): unknown {
  const onDone = args.at(-1)
  if (typeof onDone !== 'function') throw error
  process.nextTick(() => onDone(error) as unknown)
  return {}
}

function answerPromise(_args: unknown[], error: Error): Promise<never> {
  return Promise.reject(error)
}
