import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../harness/free-port.ts'
import { withDataDirectory } from '../harness/data-directory.ts'
import { describeMachine } from '../harness/machine.ts'
import type { Options } from '../harness/options.ts'
import { percentile } from '../harness/percentile.ts'
import { descendantsOf, combinedMb } from '../harness/process-usage.ts'
import type { Progress } from '../harness/progress.ts'
import type { Figure, Report } from '../harness/report.ts'
import { targets } from '../harness/targets.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const STARTS = 5
const IDLE_MS = 3_000
const POLL_MS = 10
const MAX_WAIT_MS = 120_000

type Start = { readyMs: number; serverMb: number; allMb: number }

/** Measures `npm start` in an installed and built checkout, until `/readyz` responds. */
export async function runColdStartSuite(options: Options, progress: Progress): Promise<Report> {
  requireInstalled()
  const machine = describeMachine()
  const figures = await withDataDirectory(options.data, async (directory) => {
    progress.show('npm start, first start')
    const first = await startOnce(join(directory, 'cold'))
    const later: Start[] = []
    for (let index = 0; index < STARTS; index++) {
      progress.show('npm start, later starts', index / STARTS)
      later.push(await startOnce(join(directory, 'cold')))
    }
    return figuresOf(first, later)
  })
  return { suite: 'cold-start', machine, figures }
}

function figuresOf(first: Start, later: readonly Start[]): Figure[] {
  const median = (field: keyof Start) =>
    percentile(
      later.map((start) => start[field]),
      0.5,
    )
  return [
    { what: 'npm start to first response, empty folder', figure: first.readyMs, unit: 'ms' },
    {
      what: 'npm start to first response, second start',
      figure: median('readyMs'),
      unit: 'ms',
      target: targets.firstResponse,
      note: `median of ${later.length}; includes npm and the check that everything is installed and built`,
    },
    {
      what: 'memory, idle: server and engine',
      figure: median('serverMb'),
      unit: 'MB',
      target: targets.memoryIdle,
      note: `${Math.round(median('allMb'))} MB including npm and the start script`,
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
    // The last two in the chain are the server and its child, the engine.
    return { readyMs, serverMb: combinedMb(processes.slice(-2)), allMb: combinedMb(processes) }
  } finally {
    process.kill(-child.pid!, 'SIGTERM')
    await exited
    await waitUntilGone(port)
  }
}

async function waitUntilReady(port: number): Promise<number> {
  const endMs = performance.now() + MAX_WAIT_MS
  while (performance.now() < endMs) {
    if (await isReady(port)) return performance.now()
    await sleep(POLL_MS)
  }
  throw new Error('npm start did not become ready')
}

async function waitUntilGone(port: number): Promise<void> {
  while (await isReady(port)) await sleep(POLL_MS)
}

function isReady(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/readyz`).then(
    async (response) => {
      await response.arrayBuffer()
      return response.ok
    },
    () => false,
  )
}

/** Otherwise the suite would measure the time of an installation. */
function requireInstalled(): void {
  const stamp = join(root, 'node_modules/.playhead-installed')
  const hash = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== hash)
    throw new Error('The checkout is not installed. Run npm start once, then try again.')
}
