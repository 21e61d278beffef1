import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, platform, release, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { percentile } from './percentile.ts'

/** Where and when figures were measured. They mean nothing without it. */
export type Machine = {
  date: string
  processor: string
  cores: number
  memoryGb: number
  system: string
  node: string
  /** The load average of the minute before the run. A high one means that other programs used the machine. */
  loadBefore: number
  /** A baseline of the machine: how fast one core handles JSON, and how long a sync takes. */
  jsonMbPerSecond: number
  syncMs: number
}

export function describeMachine(): Machine {
  return {
    date: new Date().toISOString(),
    processor: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 1024 ** 3),
    system: `${platform()} ${release()}`,
    node: process.version,
    loadBefore: loadavg()[0]!,
    jsonMbPerSecond: measureJson(),
    syncMs: measureSync(),
  }
}

const ROUNDS = 30

/** Measured in CPU time, which other programs hardly affect. */
function measureJson(): number {
  const text = JSON.stringify(
    Array.from({ length: 4_000 }, (_, index) => ({ key: `attribute.${index}`, value: { intValue: index } })),
  )
  const before = process.cpuUsage()
  for (let round = 0; round < ROUNDS; round++) JSON.stringify(JSON.parse(text))
  const { user, system } = process.cpuUsage(before)
  return (ROUNDS * text.length) / 1e6 / ((user + system) / 1e6)
}

function measureSync(): number {
  const folder = mkdtempSync(join(tmpdir(), 'playhead-sync-'))
  const file = openSync(join(folder, 'file'), 'w')
  const times = Array.from({ length: ROUNDS }, () => {
    const startedAtMs = performance.now()
    writeSync(file, Buffer.alloc(64 * 1024, 1))
    fdatasyncSync(file)
    return performance.now() - startedAtMs
  })
  closeSync(file)
  rmSync(folder, { recursive: true })
  return percentile(times, 0.5)
}
