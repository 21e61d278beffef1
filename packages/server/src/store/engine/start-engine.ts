import type { ChildProcess } from 'node:child_process'
import { mkdirSync, rmSync, existsSync, readdirSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { KnownError } from '../../errors/known-error.ts'
import { socketPath } from './socket-path.ts'
import { MIN_FREE_BYTES } from './checked-writes.ts'
import { forkEngine } from './engine-child.ts'
import type { EngineMessage, EngineOptions } from './engine-main.ts'

type Settings = {
  path: string
  /** Called with one line about every unexpected exit. */
  report: (line: string) => void
  heartbeatMs?: number
  startTimeoutMs?: number
}

const HEARTBEAT_MS = 5_000
// Longer than any pause of a busy machine, shorter than a person's patience.
const HEARTBEAT_TIMEOUT_MS = 20_000
/** A busy machine may need longer. Every restart that takes too long doubles it: an engine that is always killed never starts. */
const START_TIMEOUT_MS = 30_000
const MAX_START_TIMEOUT_MS = 480_000
const FOLDER_TIMEOUT_MS = 15_000
const FOLDER_IN_USE = 'another process is using its data directory'
/** What chDB says about files that it can't read, and Node about a folder that is none. */
const UNREADABLE_FOLDER = /Failed to create connection|EEXIST|ENOTDIR|Code: \d+/

export async function startEngine(settings: Settings): Promise<EngineProcess> {
  const problem = engineProblem()
  if (problem !== undefined) throw new KnownError('ENGINE_UNAVAILABLE', problem)
  mkdirSync(settings.path, { recursive: true })
  const socket = socketPath(settings.path, 'engine.sock')
  const options: EngineOptions = { path: join(settings.path, 'tables'), listen: socket, nice: 10 }
  return new EngineProcess(settings, options, await launchFirst(options))
}

/** The embedded engine as the parent sees it: always at the same socket, restarted whenever it dies. */
export class EngineProcess {
  readonly socketPath: string
  restarts = 0
  /** Called when a query meets a damaged file. */
  onDamage: (message: string) => void = () => undefined
  /** Called after every restart; `isDiskFull` if a write that failed on a full disk was the reason. */
  onRestarted: (isDiskFull: boolean) => void = () => undefined
  readonly #options: EngineOptions
  readonly #report: (line: string) => void
  readonly #heartbeat: NodeJS.Timeout
  #child: ChildProcess
  #startTimeoutMs: number
  #isStopping = false
  #isDiskFull = false
  #pause: { work: () => Promise<void>; done: PromiseWithResolvers<void> } | undefined

  constructor(settings: Settings, options: EngineOptions, child: ChildProcess) {
    this.#options = options
    this.socketPath = String(options.listen)
    this.#report = settings.report
    this.#startTimeoutMs = settings.startTimeoutMs ?? START_TIMEOUT_MS
    this.#child = child
    this.#watch(child)
    this.#heartbeat = setInterval(() => void this.#beat(), settings.heartbeatMs ?? HEARTBEAT_MS)
    this.#heartbeat.unref()
  }

  /** The current process; it changes with every restart. */
  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Ends the engine, does this work while nobody has its files open, and starts it again. */
  async restartAfter(work: () => Promise<void>): Promise<void> {
    this.#pause = { work: once(work), done: Promise.withResolvers<void>() }
    const { promise } = this.#pause.done
    this.#child.kill('SIGKILL')
    await promise
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    clearInterval(this.#heartbeat)
    await stopChild(this.#child)
    rmSync(this.socketPath, { force: true })
  }

  #watch(current: ChildProcess): void {
    current.once('exit', (code, signal) => {
      if (this.#isStopping) return
      this.restarts += 1
      if (this.#pause === undefined)
        this.#report(`the embedded engine exited (${signal ?? `code ${code}`}); restarting it`)
      void this.#restart()
    })
    current.on('message', (message: EngineMessage) => {
      if (this.#isStopping || current !== this.#child) return
      if ('damage' in message) return this.onDamage(message.damage)
      if ('incompletePart' in message) this.#isDiskFull = true
      const line = describeMessage(message)
      if (line !== undefined) this.#report(line)
    })
  }

  async #restart(delayMs = 0): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, delayMs))
    const pause = this.#pause
    if (this.#isStopping) return pause?.done.reject(new Error('The server is stopping.'))
    try {
      await pause?.work()
      this.#child = await launch(this.#options, this.#startTimeoutMs)
      this.#watch(this.#child)
    } catch (error) {
      if (error instanceof StartTimeout)
        this.#startTimeoutMs = Math.min(MAX_START_TIMEOUT_MS, this.#startTimeoutMs * 2)
      this.#report(
        `could not start the embedded engine: ${error instanceof Error ? error.message : String(error)}`,
      )
      return this.#restart(Math.min(5_000, delayMs * 2 + 250))
    }
    this.#pause = undefined
    pause?.done.resolve()
    this.onRestarted(this.#isDiskFull)
    this.#isDiskFull = false
  }

  async #beat(): Promise<void> {
    const current = this.#child
    if (this.#isStopping || current.exitCode !== null || current.signalCode !== null) return
    // A crash inside chDB hangs the process instead of ending it. Only SIGKILL helps then.
    if (!(await isAlive(this.socketPath)) && current === this.#child && !this.#isStopping)
      current.kill('SIGKILL')
  }
}

/** If the engine does not start at once, the work is not done again. */
function once(work: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined
  return () => (result ??= work())
}

/**
 * The engine of a killed server exits a moment after the server, and holds the folder until then. Somebody waits for the first
 * start, so that it has four times as long as a restart, and then fails.
 */
async function launchFirst(options: EngineOptions): Promise<ChildProcess> {
  for (const startedAtMs = performance.now(); ;) {
    try {
      return await launch(options, START_TIMEOUT_MS * 4)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (UNREADABLE_FOLDER.test(message)) throw error
      if (message !== FOLDER_IN_USE || performance.now() - startedAtMs > FOLDER_TIMEOUT_MS) {
        throw new KnownError('ENGINE_UNAVAILABLE', `Could not start the embedded engine: ${message}.`, {
          cause: error,
        })
      }
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}

class StartTimeout extends Error {}

async function launch(options: EngineOptions, timeoutMs = START_TIMEOUT_MS): Promise<ChildProcess> {
  if (typeof options.listen === 'string') rmSync(options.listen, { force: true })
  const child = forkEngine(options)
  let errors = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-4_000)
  })
  await new Promise<void>((resolve, reject) => {
    const timeout = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new StartTimeout(`no response within ${timeoutMs / 1000} s`))
    }, timeoutMs)
    child.on('message', (message: EngineMessage) => {
      if ('ready' in message) resolve(clearTimeout(timeout))
    })
    child.once('exit', (code, signal) => {
      clearTimeout(timeout)
      reject(new Error(explain(errors) ?? `it exited with ${signal ?? `code ${code}`}`))
    })
  })
  return child
}

function describeMessage(message: EngineMessage): string | undefined {
  if ('incompletePart' in message)
    return `the disk filled up during a write and left an incomplete part: ${message.incompletePart.slice(0, 300)}`
  if ('lowDisk' in message)
    return `only ${megabytes(message.lowDisk)} of disk space left; below ${megabytes(MIN_FREE_BYTES)} the store stops writing`
  return undefined
}

function megabytes(bytes: number): string {
  return `${Math.floor(bytes / 1024 ** 2)} MB`
}

function explain(errors: string): string | undefined {
  if (/Cannot lock file|Another server instance/.test(errors)) return FOLDER_IN_USE
  const line = errors.split('\n').findLast((text) => /error|exception|cannot/i.test(text))
  return line?.replace('[cause]: ', '').trim().slice(0, 300)
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  await new Promise<void>((resolve) => {
    const timeout = setTimeout(() => child.kill('SIGKILL'), 10_000)
    child.once('exit', () => resolve(clearTimeout(timeout)))
    // An engine that is being killed meanwhile no longer hears it.
    if (child.connected) child.send('stop', () => undefined)
    else child.kill('SIGKILL')
  })
}

function isAlive(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = request(
      { socketPath, path: '/alive', timeout: HEARTBEAT_TIMEOUT_MS, agent: false },
      (response) => {
        response.resume()
        resolve(response.statusCode === 200)
      },
    )
    probe.on('timeout', () => probe.destroy())
    probe.on('error', () => resolve(false))
    probe.end()
  })
}

type Platform = { platform: NodeJS.Platform; arch: string; isMusl: boolean }

/** Explains why the embedded engine can't run on this machine and what to do; undefined where it can. */
export function engineProblem(here: Platform = thisPlatform()): string | undefined {
  const alternative =
    'Set CLICKHOUSE_URL to a ClickHouse server (for example http://default:password@localhost:8123/playhead)'
  if (here.platform === 'win32') {
    return `The embedded engine has no build for Windows. Run Playhead inside WSL2, or: ${alternative}.`
  }
  if (here.platform === 'linux' && here.isMusl) {
    return `The embedded engine has no build for musl (Alpine). Use a glibc image such as node:24-slim, or: ${alternative}.`
  }
  const isBuilt = ['linux', 'darwin'].includes(here.platform) && ['x64', 'arm64'].includes(here.arch)
  if (!isBuilt)
    return `The embedded engine has no build for ${here.platform} on ${here.arch}. ${alternative}.`
  return undefined
}

function thisPlatform(): Platform {
  const { platform, arch } = process
  return { platform, arch, isMusl: platform === 'linux' && usesMusl() }
}

function usesMusl(): boolean {
  const report = process.report?.getReport() as { header?: { glibcVersionRuntime?: string } } | undefined
  if (report?.header?.glibcVersionRuntime !== undefined) return false
  return existsSync('/lib') && readdirSync('/lib').some((file) => file.startsWith('ld-musl-'))
}
