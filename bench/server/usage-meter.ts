import type { BenchServer } from './bench-server.ts'
import { cpuSeconds, combinedMb, residentMb } from '../harness/process-usage.ts'

/** The CPU time of each of the three processes, in seconds. */
export type CpuUse = { server: number; engine: number; generator: number }

/** Measures the CPU time and memory that a phase of a benchmark uses. */
export class UsageMeter {
  readonly #server: BenchServer
  readonly #before: CpuUse
  readonly #timer: NodeJS.Timeout
  /** Mostly code, so it hardly changes. Counting it takes too long to repeat it during a phase. */
  readonly #sharedMb: number
  #peakMb = 0

  constructor(server: BenchServer) {
    this.#server = server
    this.#before = readCpu(server)
    this.#sharedMb = roughMemoryOf(server) - memoryOf(server)
    this.#timer = setInterval(() => this.#sample(), 250)
    this.#sample()
  }

  /** Returns the CPU time since the meter was created, and the peak memory of server and engine together. */
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
    this.#peakMb = Math.max(this.#peakMb, roughMemoryOf(this.#server) - this.#sharedMb)
  }
}

/** The memory of server and engine in megabytes. Quick, but counts shared code twice. */
function roughMemoryOf(server: BenchServer): number {
  return residentMb(server.pid) + residentMb(server.enginePid)
}

/** The memory of server and engine in megabytes, with shared code counted once. */
export function memoryOf(server: BenchServer): number {
  return combinedMb([server.pid, server.enginePid])
}

function readCpu(server: BenchServer): CpuUse {
  const { user, system } = process.cpuUsage()
  return {
    server: cpuSeconds(server.pid),
    engine: cpuSeconds(server.enginePid),
    generator: (user + system) / 1e6,
  }
}
