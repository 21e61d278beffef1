import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { Session, SessionSummary } from '@playhead/model'
import { newDataDirectory } from './empty-store.ts'

const entry = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** Long enough for a machine that is busy with other work. */
const START_TIMEOUT_MS = 150_000
const END_TIMEOUT_MS = 60_000

const greeting = [
  /^$/,
  /^Playhead is at http/,
  /^ {2}(data|OTLP\/HTTP|OTLP\/gRPC|auth) /,
  /^Playhead is stopping \(SIGTERM\)/,
  // Depends on the machine, not on the test.
  /^playhead: only \d+ MB of disk space left/,
]

/**
 * The server in a process of its own, as `npm start` runs it. It can be killed and restarted with the same port and
 * data.
 */
export class SpawnedServer {
  readonly url: string
  readonly dataDirectory: string
  readonly #environment: Record<string, string>
  /** Sent with every request; `logIn` sets the cookie. */
  headers: Record<string, string> = {}
  #child: ChildProcess | undefined
  #output = ''

  private constructor(port: number, dataDirectory: string, environment: Record<string, string>) {
    this.url = `http://127.0.0.1:${port}`
    this.dataDirectory = dataDirectory
    this.#environment = { ...environment, PLAYHEAD_PORT: String(port), PLAYHEAD_DATA: dataDirectory }
  }

  /** The caller has to call `remove` in the end. */
  static async create(environment: Record<string, string> = {}): Promise<SpawnedServer> {
    const data = environment.PLAYHEAD_DATA ?? (await newDataDirectory())
    return new SpawnedServer(await freePort(), data, environment)
  }

  /** A server for one test. It is stopped and its data removed when the test ends. */
  static async forThisTest(environment: Record<string, string> = {}): Promise<SpawnedServer> {
    const server = await SpawnedServer.create(environment)
    onTestFinished(() => server.remove(), 2 * END_TIMEOUT_MS)
    return server
  }

  async remove(): Promise<void> {
    await this.end('SIGTERM')
    await rm(this.dataDirectory, { recursive: true, force: true })
  }

  /** Starts the process without waiting until it is ready. */
  launch(): void {
    const child = spawn(process.execPath, ['--conditions=playhead-source', entry], {
      env: { ...process.env, PLAYHEAD_DEMO: 'off', ...this.#environment },
      // Over this channel it notices when its parent is gone.
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    child.stdout?.on('data', (chunk: Buffer) => (this.#output += chunk.toString()))
    child.stderr?.on('data', (chunk: Buffer) => (this.#output += chunk.toString()))
    this.#child = child
  }

  async start(): Promise<void> {
    this.launch()
    await this.waitUntilReady()
  }

  async waitUntilReady(): Promise<void> {
    const deadline = Date.now() + START_TIMEOUT_MS
    while (!(await this.isReady())) {
      if (!this.isAlive()) throw new Error(`The server exited:\n${this.#output}`)
      if (Date.now() > deadline) throw new Error(`The server did not become ready:\n${this.#output}`)
      await pause(20)
    }
  }

  async isReady(): Promise<boolean> {
    return fetch(`${this.url}/readyz`).then(
      async (response) => {
        await response.arrayBuffer()
        return response.ok
      },
      () => false,
    )
  }

  isAlive(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  get pid(): number {
    if (this.#child?.pid === undefined) throw new Error('The server was not started.')
    return this.#child.pid
  }

  /** The process of the embedded engine; undefined while there is none. */
  enginePid(): number | undefined {
    return childrenOf(this.pid)[0]
  }

  /** Where it listens for OTLP/gRPC, as it printed; it chooses a port if PLAYHEAD_GRPC_PORT is 0. */
  grpcAddress(): string {
    const address = [...this.#output.matchAll(/^ {2}OTLP\/gRPC +(\S+)$/gm)].at(-1)?.[1]
    if (address === undefined) throw new Error('The server does not listen for gRPC.')
    return address
  }

  /** All lines that the server printed, across restarts, except its greeting and the expected ones. */
  unexpectedLines(expected: readonly RegExp[] = []): string[] {
    return this.#output
      .split('\n')
      .filter((line) => ![...greeting, ...expected].some((known) => known.test(line)))
  }

  /** Sends a signal and waits until the process has exited. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child
    if (child === undefined || !this.isAlive()) return
    const exited = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    const timeout = setTimeout(() => child.kill('SIGKILL'), END_TIMEOUT_MS)
    await exited
    clearTimeout(timeout)
  }

  request(
    path: string,
    options: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {},
  ): Promise<Response> {
    return fetch(`${this.url}${path}`, { ...options, headers: { ...this.headers, ...options.headers } })
  }

  /** For a server with auth. The login survives restarts. */
  async logIn(password: string): Promise<void> {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ password })
    const response = await this.request('/api/login', { method: 'POST', headers, body })
    if (!response.ok) throw new Error(`POST /api/login: ${response.status} ${await response.text()}`)
    this.headers = { cookie: response.headers.getSetCookie()[0]!.split(';')[0]! }
  }

  /** Fetches JSON; throws on any status but 200. */
  async read(path: string): Promise<unknown> {
    const response = await this.request(path)
    if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }

  async session(id: string, query = 'payloads=none'): Promise<Session> {
    return (await this.read(`/api/sessions/${id}?${query}`)) as Session
  }

  /** Reads the whole list of sessions, page by page. */
  async allSessions(): Promise<SessionSummary[]> {
    const sessions: SessionSummary[] = []
    for (let cursor = ''; ;) {
      const page = (await this.read(`/api/sessions?limit=1000${cursor}`)) as {
        sessions: SessionSummary[]
        nextCursor?: string
      }
      sessions.push(...page.sessions)
      if (page.nextCursor === undefined) return sessions
      cursor = `&cursor=${page.nextCursor}`
    }
  }

  /** Posts OTLP/JSON; throws unless all of it is stored. */
  async postTraces(payload: unknown): Promise<void> {
    const response = await this.request('/v1/traces', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(payload),
    })
    const text = await response.text()
    if (response.status !== 200 || text !== '{}')
      throw new Error(`POST /v1/traces: ${response.status} ${text}`)
  }

  /** The files in the data directory with rows on their way to the store. */
  filesInFlight(): string[] {
    return ['log/steps', 'log/logs', 'inbox', 'store/inbox'].flatMap((folder) =>
      namesIn(join(this.dataDirectory, folder))
        .filter((name) => name !== 'next-id')
        .map((name) => `${folder}/${name}`),
    )
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('There is no free port.')
  return address.port
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function childrenOf(pid: number): number[] {
  return execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([child, parent]) => (parent === pid && child !== undefined ? [child] : []))
}

/** The resident memory of a process in megabytes: now, and the peak since `forgetPeak` (on Linux). */
export function memoryOf(pid: number): { nowMb: number; peakMb: number } {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const kilobytes = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0)
    return { nowMb: Math.round(kilobytes('VmRSS') / 1024), peakMb: Math.round(kilobytes('VmHWM') / 1024) }
  } catch {
    const kilobytes = Number(
      execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }).trim(),
    )
    return { nowMb: Math.round(kilobytes / 1024), peakMb: Math.round(kilobytes / 1024) }
  }
}

export function forgetPeak(pid: number): void {
  if (existsSync(`/proc/${pid}/clear_refs`)) writeFileSync(`/proc/${pid}/clear_refs`, '5')
}
