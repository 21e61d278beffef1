import type { BenchServer } from './bench-server.ts'
import { cpuSeconds, memoryInAll, residentMb } from './process-usage.ts'

/** Processor time, in seconds, that each of the three processes has used. */
export type CpuUse = { server: number; engine: number; generator: number }

/** Watches what a phase of a benchmark takes of the machine. */
export class UsageMeter {
  readonly #server: BenchServer
  readonly #before: CpuUse
  readonly #timer: NodeJS.Timeout
  #peakMb = 0

  constructor(server: BenchServer) {
    this.#server = server
    this.#before = readCpu(server)
    this.#timer = setInterval(() => this.#sample(), 250)
    this.#sample()
  }

  /** Processor time since the meter was made, and the most memory that server and engine held together. */
  stop(): { cpu: CpuUse; peakMb: number } {
    clearInterval(this.#timer)
    const after = readCpu(this.#server)
    const before = this.#before
    return {
      cpu: {
        server: after.server - before.server,
        engine: after.engine - before.engine,
        generator: after.generator - before.generator,
      },
      peakMb: this.#peakMb,
    }
  }

  #sample(): void {
    this.#peakMb = Math.max(this.#peakMb, roughMemoryOf(this.#server))
  }
}

/** Megabytes that server and engine hold together; code that both have mapped counts twice, because this is quick. */
function roughMemoryOf(server: BenchServer): number {
  return residentMb(server.pid) + residentMb(server.enginePid)
}

/** The same, with what they share counted once. */
export function memoryOf(server: BenchServer): number {
  return memoryInAll([server.pid, server.enginePid])
}

function readCpu(server: BenchServer): CpuUse {
  const { user, system } = process.cpuUsage()
  return {
    server: cpuSeconds(server.pid),
    engine: cpuSeconds(server.enginePid),
    generator: (user + system) / 1e6,
  }
}
