import { AsyncLocalStorage } from 'node:async_hooks'
import { clearTimeout, setTimeout } from 'node:timers'
import { Duplex } from 'node:stream'

export type SocketFacts = {
  isSecure: boolean
  host: string
  port: number
  /** What TLS agreed on. */
  alpnProtocol: string | false | undefined
}

/** A socket whose other end is in this process. It has what HTTP clients ask of sockets, with or without TLS. */
export class MemorySocket extends Duplex {
  connecting = true
  bytesRead = 0
  bytesWritten = 0
  timeout = 0
  readonly encrypted: boolean
  readonly authorized: boolean
  readonly authorizationError = null
  alpnProtocol: string | false | undefined
  readonly servername: string
  readonly remoteAddress = '127.0.0.1'
  readonly remoteFamily = 'IPv4'
  readonly remotePort: number
  readonly localAddress = '127.0.0.1'
  readonly localFamily = 'IPv4'
  readonly localPort = 0
  /** Like those of other sockets, its events belong to whoever opened it. */
  readonly #inOpener = AsyncLocalStorage.snapshot()
  #peer: MemorySocket | undefined
  #proceed: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined

  private constructor({ isSecure, host, port, alpnProtocol }: SocketFacts) {
    super({ allowHalfOpen: false })
    this.encrypted = isSecure
    this.authorized = isSecure
    this.alpnProtocol = alpnProtocol
    this.servername = host
    this.remotePort = port
  }

  /** Both ends. The client's connects with the next tick. */
  static createPair(facts: SocketFacts): { client: MemorySocket; server: MemorySocket } {
    const client = new MemorySocket(facts)
    const server = new MemorySocket(facts)
    client.#peer = server
    server.#peer = client
    server.connecting = false
    // Only the host hears how its connection ended.
    server.on('error', () => {})
    process.nextTick(() => {
      client.connecting = false
      if (client.destroyed) return
      client.emit('connect')
      if (facts.isSecure) client.emit('secureConnect')
      client.emit('ready')
    })
    return { client, server }
  }

  get readyState(): string {
    if (this.connecting) return 'opening'
    return this.destroyed ? 'closed' : 'open'
  }

  get pending(): boolean {
    return this.connecting
  }

  override _read(): void {
    const proceed = this.#proceed
    this.#proceed = undefined
    proceed?.()
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.bytesWritten += chunk.length
    this.#touch()
    // Like a network, it never answers within the same call.
    process.nextTick(() => this.#inOpener(() => this.#peer!.#receive(chunk, done)))
  }

  override _final(done: () => void): void {
    process.nextTick(() => {
      if (!this.#peer!.destroyed) this.#peer!.push(null)
      done()
    })
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#timer)
    done(error)
    this._read()
    const peer = this.#peer!
    process.nextTick(() => {
      if (peer.destroyed) return
      if (this.writableFinished) peer.push(null)
      else peer.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' }))
    })
  }

  #receive(chunk: Buffer, done: () => void): void {
    if (this.destroyed) return done()
    this.bytesRead += chunk.length
    this.#touch()
    if (this.push(chunk)) done()
    else this.#proceed = done
  }

  #touch(): void {
    if (this.timeout > 0) this.setTimeout(this.timeout)
  }

  setTimeout(ms: number, onTimeout?: () => void): this {
    clearTimeout(this.#timer)
    this.timeout = ms
    if (ms > 0) this.#timer = setTimeout(() => this.emit('timeout'), ms).unref()
    if (onTimeout !== undefined && ms > 0) this.once('timeout', onTimeout)
    else if (onTimeout !== undefined) this.off('timeout', onTimeout)
    return this
  }

  destroySoon(): void {
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => this.destroy())
  }

  resetAndDestroy(): this {
    return this.destroy()
  }

  address(): { address: string; family: string; port: number } {
    return { address: this.localAddress, family: this.localFamily, port: this.localPort }
  }

  setKeepAlive(): this {
    return this
  }

  setNoDelay(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  setServername(): void {}

  setSession(): void {}

  getSession(): undefined {}

  isSessionReused(): boolean {
    return false
  }

  getPeerCertificate(): Record<string, never> {
    return {}
  }

  getCipher(): { name: string; standardName: string; version: string } {
    return { name: 'TLS_AES_256_GCM_SHA384', standardName: 'TLS_AES_256_GCM_SHA384', version: 'TLSv1.3' }
  }

  getProtocol(): string | null {
    return this.encrypted ? 'TLSv1.3' : null
  }
}
