import { rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { SmallDisk } from '../small-disk.ts'
import type { SpawnedServer } from '../spawned-server.ts'

export type FaultTools = {
  server: SpawnedServer
  disk: SmallDisk | undefined
  /** The offset of the server's clock is written to this file. */
  clockFile: string
  random: () => number
}

export type FaultName =
  | 'kill -9 of the server'
  | 'kill -9 of the engine'
  | 'stop and continue the server'
  | 'stop and continue the engine'
  | 'full disk'
  | 'slow disk'
  | 'connection resets'
  | 'clock jump'

/** The faults that this machine can inject. */
export function possibleFaults({ disk }: FaultTools): FaultName[] {
  return (Object.keys(faults) as FaultName[]).filter((name) => {
    if (name === 'full disk') return disk !== undefined
    if (name === 'slow disk') return disk?.isSlowable === true
    return true
  })
}

type Fault = (tools: FaultTools) => Promise<void>

const DAY_MS = 86_400_000

/** Each fault cleans up after itself, except that a clock stays wrong. */
export const faults: Record<FaultName, Fault> = {
  async 'kill -9 of the server'({ server }) {
    await server.end('SIGKILL')
    await server.start()
  },
  async 'kill -9 of the engine'({ server }) {
    const pid = server.enginePid()
    if (pid !== undefined) process.kill(pid, 'SIGKILL')
    await server.waitUntilReady()
  },
  'stop and continue the server': ({ server, random }) => stopFor(server.pid, 500 + random() * 3_000),
  'stop and continue the engine': ({ server, random }) =>
    stopFor(server.enginePid(), 1_000 + random() * 5_000),
  async 'full disk'({ disk, random }) {
    disk!.fill()
    await pause(2_000 + random() * 4_000)
    disk!.makeRoom()
  },
  /** Blocks writes for up to 0.9 s, over and over. */
  async 'slow disk'({ disk, random }) {
    const untilMs = performance.now() + 4_000 + random() * 4_000
    while (performance.now() < untilMs) {
      await disk!.hold(100 + random() * 800)
      await pause(20 + random() * 100)
    }
  },
  async 'connection resets'({ server }) {
    await Promise.all(Array.from({ length: 100 }, () => resetInTheMiddle(server)))
  },
  /** By up to a day in either direction, until the next jump; sometimes back to the right time. */
  async 'clock jump'({ clockFile, random }) {
    if (random() < 0.3) rmSync(clockFile, { force: true })
    else writeFileSync(clockFile, String(Math.round((random() - 0.5) * 2 * DAY_MS)))
    await pause(2_000 + random() * 4_000)
  },
}

async function stopFor(pid: number | undefined, milliseconds: number): Promise<void> {
  if (pid === undefined) return
  process.kill(pid, 'SIGSTOP')
  await pause(milliseconds)
  try {
    process.kill(pid, 'SIGCONT')
  } catch {
    // The server may have killed an engine that did not respond.
  }
}

function resetInTheMiddle(server: SpawnedServer): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1', () => {
      socket.write(
        'POST /v1/traces HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n{"resourceSpans":[',
        () => socket.resetAndDestroy(),
      )
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve())
  })
}
