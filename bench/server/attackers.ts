import { connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

export type AttackOptions = {
  url: string
  /** Without it, gRPC is left alone. */
  grpcAddress?: string | undefined
  connections: number
  /** Without auth everyone may send spans, so only routes whose bodies anyone may send, or that are small, are attacked. */
  isAuthOn: boolean
}

const MB = 1024 * 1024
const HUGE_BYTES = 299 * MB
const GIVE_UP_MS = 60_000
/** Between two attacks of a connection, and between two requests of one that sends many: some hundred a second in all. */
const MAX_PAUSE_MS = 5_000
const REQUEST_PAUSE_MS = 500

const publicPaths = ['POST /api/login', 'POST /v3/auth/token', 'POST /public/v1/auth/access_token']
const jsonPaths = [
  'POST /api/keys',
  'POST /api/projects',
  'PATCH /api/projects/default',
  'POST /api/sessions/delete',
]
const keyedPaths = [
  'POST /v1/traces',
  'POST /v2/create_events',
  'POST /v4/objects/upload',
  'POST /api/restore',
]
const cheapPaths = [
  'GET /api/sessions',
  'GET /readyz',
  'GET /metrics',
  'GET /api/openapi.json',
  'GET /',
  'GET /api/live',
]

/** Clients without a key: slow, stalled, huge and many. Each connection attacks, waits for its end and attacks again. */
export class Attackers {
  /** Requests by how they attacked, and responses by status. */
  readonly counts: Record<string, number> = {}
  readonly #options: AttackOptions
  readonly #sockets = new Set<Socket>()
  #isStopping = false

  constructor(options: AttackOptions) {
    this.#options = options
    const { connections, grpcAddress } = options
    const attacks = [
      () => this.#slowHead(),
      () => this.#stalled(),
      () => this.#stalled(),
      () => this.#huge(),
      () => this.#many(),
      () => this.#deaf(),
      ...(grpcAddress === undefined ? [] : [() => this.#grpc(grpcAddress)]),
    ]
    for (let index = 0; index < connections; index++) void this.#repeat(attacks[index % attacks.length]!)
  }

  stop(): void {
    this.#isStopping = true
    for (const socket of this.#sockets) socket.destroy()
  }

  async #repeat(attack: () => Promise<void>): Promise<void> {
    while (!this.#isStopping) {
      await pause(Math.random() * MAX_PAUSE_MS)
      if (!this.#isStopping) await attack()
    }
  }

  /** A head that arrives byte by byte and never ends. */
  async #slowHead(): Promise<void> {
    this.#count('slow heads')
    const socket = await this.#open('POST /api/login HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ')
    while (!socket.destroyed && !this.#isStopping) {
      socket.write('x')
      await pause(500)
    }
  }

  /** A body that begins and never arrives. */
  async #stalled(): Promise<void> {
    this.#count('stalled bodies')
    const length = Math.random() < 0.5 ? 'content-length: 4000' : 'transfer-encoding: chunked'
    const socket = await this.#open(this.#head(this.#path(), length))
    socket.write(length.startsWith('content') ? '{"api_key":"' : 'c\r\n{"api_key":"\r\n')
    await this.#ended(socket)
  }

  /** A body that is as large as the server lets it be. */
  async #huge(): Promise<void> {
    this.#count('huge bodies')
    const socket = await this.#open(this.#head(this.#path(), 'transfer-encoding: chunked'))
    const block = Buffer.concat([
      Buffer.from(`${(64 * 1024).toString(16)}\r\n`),
      Buffer.alloc(64 * 1024, 0x20),
      Buffer.from('\r\n'),
    ])
    for (let sent = 0; sent < HUGE_BYTES && !socket.destroyed; sent += block.length) {
      if (!socket.write(block))
        await new Promise((resolve) => socket.once('drain', resolve).once('close', resolve))
    }
    await this.#ended(socket)
  }

  /** Whole requests, one after the other on the same connection. */
  async #many(): Promise<void> {
    const socket = await this.#open('')
    for (let sent = 0; sent < 20 && !socket.destroyed; sent++) {
      this.#count('whole requests')
      const body = '{"password":"a guess","api_key":"a guess"}'
      const path = sent % 2 === 0 ? this.#path() : pick(cheapPaths)
      const isGet = path.startsWith('GET')
      socket.write(`${this.#head(path, `content-length: ${isGet ? 0 : body.length}`)}${isGet ? '' : body}`)
      await pause(REQUEST_PAUSE_MS)
    }
    socket.end()
    await this.#ended(socket)
  }

  /** Requests whose responses are never read. */
  async #deaf(): Promise<void> {
    this.#count('unread responses')
    const socket = await this.#open('')
    socket.pause()
    for (const path of cheapPaths) socket.write(this.#head(path, 'content-length: 0'))
    await this.#ended(socket)
  }

  /** Calls whose message never arrives. */
  async #grpc(address: string): Promise<void> {
    const session = connectHttp2(`http://${address}`)
    session.on('error', () => {})
    for (let call = 0; call < 10; call++) {
      this.#count('gRPC calls')
      const stream = session.request({
        ':method': 'POST',
        ':path': '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
        'content-type': 'application/grpc',
      })
      stream.on('error', () => {})
      stream.on('response', (headers) => this.#count(`grpc-status ${String(headers['grpc-status'])}`))
      stream.resume()
      stream.write(Buffer.alloc(32 * 1024))
      await pause(REQUEST_PAUSE_MS)
    }
    await pause(MAX_PAUSE_MS)
    session.destroy()
  }

  #path(): string {
    const { isAuthOn } = this.#options
    return pick(isAuthOn ? [...publicPaths, ...jsonPaths, ...keyedPaths] : [...publicPaths, ...jsonPaths])
  }

  #head(path: string, length: string): string {
    return `${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n${length}\r\n\r\n`
  }

  #open(text: string): Promise<Socket> {
    const { hostname, port } = new URL(this.#options.url)
    const socket = connect(Number(port), hostname)
    this.#sockets.add(socket)
    socket.setTimeout(GIVE_UP_MS, () => socket.destroy())
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('data', (chunk) => {
      for (const [, status] of chunk.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3})/g))
        this.#count(`status ${status}`)
    })
    if (text !== '') socket.write(text)
    return new Promise((resolve) => {
      socket.once('connect', () => resolve(socket))
      socket.once('close', () => resolve(socket))
    })
  }

  #ended(socket: Socket): Promise<void> {
    return new Promise((resolve) => {
      if (socket.destroyed) resolve()
      else socket.once('close', () => resolve())
    })
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1
  }
}

function pick<Value>(values: readonly Value[]): Value {
  return values[Math.floor(Math.random() * values.length)]!
}
