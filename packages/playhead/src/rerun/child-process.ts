import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { visibleText } from '@playhead/model'
import { ConfigError } from './config-file.ts'
import { killLeftovers, RUN_MARK } from './leftovers.ts'
import type { FromChild, ToChild } from './messages.ts'

export type ChildOptions = {
  configFile: string
  /** Modules that Node imports first. */
  imports: readonly string[]
  environment: Record<string, string>
  message: ToChild
  onMessage(message: FromChild, child: ChildProcess): void
  onOutput?(text: string): void
  /** Ends the child and everything that it started. */
  signal?: AbortSignal | undefined
}

export type ChildEnd = { code: number | null; signal: NodeJS.Signals | null }

const KILL_AFTER_MS = 2000
const PIPES_CLOSE_WITHIN_MS = 1000

/**
 * Starts a process that loads the config of a project, with the SDK that the project has installed, and waits for its
 * end. It leads a process group of its own, and whatever is left of the group is killed when it ends, as are processes that
 * have left the group.
 */
export async function runChild(options: ChildOptions): Promise<ChildEnd> {
  const mark = randomUUID()
  const child = start(options, mark)
  const stopWith = stopper(child, mark)
  const onAbort = () => stopWith.signal()
  options.signal?.addEventListener('abort', onAbort, { once: true })
  if (options.signal?.aborted === true) onAbort()
  process.once('exit', stopWith.kill)
  const onLine = (line: string) => options.onMessage(JSON.parse(line) as FromChild, child)
  const onOutput = (line: string) => options.onOutput?.(`${line}\n`)
  const reading = [
    readLines(child.stdio[3], onLine),
    readLines(child.stdout, onOutput),
    readLines(child.stderr, onOutput),
  ]
  child.send(options.message, () => undefined)
  try {
    const end = await new Promise<ChildEnd>((resolve, reject) => {
      child.once('error', reject)
      // Not `close`: a process that the agent left behind may hold the pipes open.
      child.once('exit', (code, signal) => resolve({ code, signal }))
    })
    stopWith.kill()
    await Promise.race([Promise.all(reading), sleep(PIPES_CLOSE_WITHIN_MS, undefined, { ref: false })])
    return end
  } finally {
    for (const stream of child.stdio) stream?.destroy()
    process.off('exit', stopWith.kill)
    stopWith.clear()
    options.signal?.removeEventListener('abort', onAbort)
    if (child.connected) child.disconnect()
  }
}

async function readLines(stream: unknown, onLine: (line: string) => void): Promise<void> {
  const lines = createInterface({ input: stream as Readable })
  lines.on('line', onLine)
  await once(lines, 'close')
}

function start({ configFile, imports, environment }: ChildOptions, mark: string): ChildProcess {
  const { preload, main } = findProgram(configFile)
  // The variables would make the re-run a part of the session that this command runs in.
  const { TRACEPARENT: _traceparent, BAGGAGE: _baggage, ...inherited } = process.env
  return spawn(
    process.execPath,
    [
      ...nodeConditions(),
      ...(configFile.endsWith('ts') && process.features.typescript === false
        ? ['--experimental-strip-types']
        : []),
      '--disable-warning=ExperimentalWarning',
      // The config may be the only ES module of a project.
      '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON',
      '--require',
      preload,
      ...imports.flatMap((name) => ['--import', resolveImport(name, configFile)]),
      main,
    ],
    {
      cwd: dirname(configFile),
      env: { ...inherited, ...environment, [RUN_MARK]: mark },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'ipc'],
      detached: process.platform !== 'win32',
    },
  )
}

const isSource = import.meta.url.endsWith('.ts')

/** In the repository, programs run from source. Conditions that a user set for this process hold for the agent too. */
export function nodeConditions(): string[] {
  const given = process.execArgv.filter((argument) => /^(?:-C|--conditions)=/.test(argument))
  const own = '--conditions=playhead-source'
  return isSource && !given.includes(own) ? [...given, own] : given
}

/** The files of the SDK that the project uses: a tape in another copy of it would not be seen by the agent. */
function findProgram(configFile: string): { preload: string; main: string } {
  let manifest: string
  try {
    manifest = createRequire(configFile).resolve('playhead/package.json')
  } catch {
    throw new ConfigError(
      `${visibleText(dirname(configFile))} has no playhead installed, which records the agent: npm install playhead`,
    )
  }
  const folder = dirname(manifest)
  const [preload, main] = isSource
    ? [join(folder, 'src/rerun/preload.ts'), join(folder, 'src/rerun/child.ts')]
    : [join(folder, 'dist/rerun-preload.mjs'), join(folder, 'dist/rerun-child.mjs')]
  if (existsSync(preload)) return { preload, main }
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
  throw new ConfigError(
    `playhead ${visibleText(version)} in ${visibleText(folder)} can't run sessions again. Update it: npm install playhead@latest`,
  )
}

/** Undefined if the package is not installed for the project. */
export function findPackage(name: string, configFile: string): string | undefined {
  try {
    return createRequire(configFile).resolve(name)
  } catch {
    return undefined
  }
}

function resolveImport(name: string, configFile: string): string {
  try {
    return pathToFileURL(createRequire(configFile).resolve(name)).href
  } catch (error) {
    // A package may be there for `import` only: Node finds it from the folder of the config.
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') return name
    throw new ConfigError(
      `The config names ${visibleText(name)} in "imports", which is not installed: npm install --save-dev ${visibleText(name)}`,
    )
  }
}

/** Ends a process group: politely, and after two seconds with force. */
function stopper(child: ChildProcess, mark: string): Record<'signal' | 'kill' | 'clear', () => void> {
  let timer: NodeJS.Timeout | undefined
  const kill = () => {
    signalGroup(child, 'SIGKILL')
    killLeftovers(mark)
  }
  return {
    signal() {
      signalGroup(child, 'SIGTERM')
      timer ??= setTimeout(kill, KILL_AFTER_MS)
    },
    kill,
    clear: () => clearTimeout(timer),
  }
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  if (process.platform === 'win32') {
    spawn('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore' }).unref()
    return
  }
  try {
    process.kill(-pid, signal)
  } catch {
    // The whole group has ended.
  }
}
