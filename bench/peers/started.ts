import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Api } from '../harness/api.ts'
import { freePort } from '../harness/free-port.ts'
import { descendantsOf, residentMb } from '../harness/process-usage.ts'
import type { Contender } from './contender.ts'
import { sendQuery } from './send-query.ts'

const POLL_MS = 20
const START_TIMEOUT_MS = 180_000
const STOP_TIMEOUT_MS = 15_000

/** A running contender. */
export type Started = {
  url: string
  pid: number
  /** From the start of the process to the first response from the store. */
  readyMs: number
  stop: () => Promise<void>
  /** kill -9 of the process and all its descendants. */
  kill: () => Promise<void>
}

export async function startContender(contender: Contender, directory: string): Promise<Started> {
  mkdirSync(directory, { recursive: true })
  const ports = [await freePort(), await freePort()] as const
  const { command, args, environment } = contender.command(directory, ports)
  const log = `${directory}.log`
  const output = openSync(log, 'a')
  const startedAtMs = performance.now()
  const child = spawn(command, args, {
    cwd: dirname(directory),
    env: { ...process.env, ...environment },
    stdio: ['ignore', output, output],
  })
  closeSync(output)
  const exited = once(child, 'exit')
  const url = `http://127.0.0.1:${ports[0]}`
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    if (child.exitCode !== null || child.signalCode !== null) return
    // Ancestors first, so that none can start another process.
    const processes = descendantsOf(child.pid!)
    for (const pid of signal === 'SIGKILL' ? processes : [child.pid!])
      if (isAlive(pid)) process.kill(pid, signal)
    await exited
    await waitUntilGone(processes)
  }
  const isReady = await waitUntilReady(contender, url, () => child.exitCode !== null)
  if (!isReady) {
    await end('SIGKILL')
    throw new Error(`${contender.name} did not become ready: ${readFileSync(log, 'utf8').slice(-1_000)}`)
  }
  const readyMs = performance.now() - startedAtMs
  return { url, pid: child.pid!, readyMs, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') }
}

async function waitUntilReady(contender: Contender, url: string, hasEnded: () => boolean): Promise<boolean> {
  const endMs = performance.now() + START_TIMEOUT_MS
  const api = new Api(url)
  let isReady = false
  while (!isReady && !hasEnded() && performance.now() < endMs) {
    isReady = await sendQuery(api, contender.ready).then(
      () => true,
      () => false,
    )
    if (!isReady) await sleep(POLL_MS)
  }
  api.close()
  return isReady
}

/** A parent may exit before its children. Kills those that stay. */
async function waitUntilGone(processes: readonly number[]): Promise<void> {
  const endMs = performance.now() + STOP_TIMEOUT_MS
  while (processes.some(isAlive)) {
    if (performance.now() > endMs) for (const pid of processes.filter(isAlive)) process.kill(pid, 'SIGKILL')
    await sleep(POLL_MS)
  }
}

function isAlive(pid: number): boolean {
  return !Number.isNaN(residentMb(pid))
}
