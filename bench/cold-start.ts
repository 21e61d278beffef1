import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.ts'
import { withDataDirectory } from './data-directory.ts'
import { describeMachine } from './machine.ts'
import type { Options } from './options.ts'
import { percentile } from './percentile.ts'
import { descendantsOf, memoryInAll } from './process-usage.ts'
import type { Progress } from './progress.ts'
import type { Figure, Report } from './report.ts'
import { targets } from './targets.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const STARTS = 5
const IDLE_MS = 3_000
const LOOK_EVERY_MS = 10
const PATIENCE_MS = 120_000

type Start = { readyMs: number; serverMb: number; allMb: number }

/** `npm start` as a user types it, in a checkout that is installed and built, until `/readyz` answers. */
export async function runColdStartSuite(options: Options, progress: Progress): Promise<Report> {
  refuseUninstalled()
  const machine = describeMachine()
  const figures = await withDataDirectory(options.data, async (directory) => {
    progress.show('npm start, for the first time')
    const first = await startOnce(join(directory, 'cold'))
    const later: Start[] = []
    for (let index = 0; index < STARTS; index++) {
      progress.show('npm start, again', index / STARTS)
      later.push(await startOnce(join(directory, 'cold')))
    }
    return figuresOf(first, later)
  })
  return { suite: 'cold-start', machine, figures }
}

function figuresOf(first: Start, later: readonly Start[]): Figure[] {
  const middle = (field: keyof Start) =>
    percentile(
      later.map((start) => start[field]),
      0.5,
    )
  return [
    { what: 'npm start to first answer, empty folder', figure: first.readyMs, unit: 'ms' },
    {
      what: 'npm start to first answer, again',
      figure: middle('readyMs'),
      unit: 'ms',
      note: `median of ${later.length}; npm itself and a look whether everything is installed and built included`,
    },
    {
      what: 'memory, idle: server and engine',
      figure: middle('serverMb'),
      unit: 'MB',
      target: targets.memoryIdle,
      note: `${Math.round(middle('allMb'))} MB with npm and the script that starts them`,
    },
  ]
}

async function startOnce(data: string): Promise<Start> {
  const port = await freePort()
  const startedAtMs = performance.now()
  const child = spawn('npm', ['start'], {
    cwd: root,
    env: { ...process.env, PLAYHEAD_DATA: data, PLAYHEAD_PORT: String(port), PLAYHEAD_DEMO: 'off' },
    stdio: ['ignore', 'ignore', 'inherit'],
    detached: true,
  })
  const exited = once(child, 'exit')
  try {
    const readyMs = (await waitUntilReady(port)) - startedAtMs
    await sleep(IDLE_MS)
    const processes = descendantsOf(child.pid!)
    // The server and, below it, the engine are the last two of the chain.
    return { readyMs, serverMb: memoryInAll(processes.slice(-2)), allMb: memoryInAll(processes) }
  } finally {
    process.kill(-child.pid!, 'SIGTERM')
    await exited
    await waitUntilGone(port)
  }
}

async function waitUntilReady(port: number): Promise<number> {
  const endMs = performance.now() + PATIENCE_MS
  while (performance.now() < endMs) {
    const isReady = await isAnswered(port)
    if (isReady) return performance.now()
    await sleep(LOOK_EVERY_MS)
  }
  throw new Error('npm start did not get ready')
}

async function waitUntilGone(port: number): Promise<void> {
  while (await isAnswered(port)) await sleep(LOOK_EVERY_MS)
}

function isAnswered(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/readyz`).then(
    async (response) => {
      await response.arrayBuffer()
      return response.ok
    },
    () => false,
  )
}

/** Otherwise the time of an installation would be measured. */
function refuseUninstalled(): void {
  const stamp = join(root, 'node_modules/.playhead-installed')
  const hash = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== hash)
    throw new Error('Something is not installed: run npm start once, then this.')
}
