import { availableParallelism, cpus, loadavg, platform, release, totalmem } from 'node:os'

/** Where and when figures were taken: they mean nothing without it. */
export type Machine = {
  date: string
  processor: string
  cores: number
  memoryGb: number
  system: string
  node: string
  /** Of the last minute, before the run: more than a little means that others used the machine too. */
  loadBefore: number
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
  }
}
