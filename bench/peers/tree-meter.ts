import { setTimeout as sleep } from 'node:timers/promises'
import { cpuSeconds, descendantsOf, combinedMb } from '../harness/process-usage.ts'

const SAMPLE_MS = 1_000

/** Measures the CPU time and memory of a process and all its descendants. */
export class TreeMeter {
  readonly #pid: number
  readonly #cpuBefore: number
  readonly #timer: NodeJS.Timeout
  #peakMb = 0

  constructor(pid: number) {
    this.#pid = pid
    this.#cpuBefore = cpuOfTree(pid)
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS)
    this.#sample()
  }

  /** Returns the peak memory and the CPU time since the meter was created. */
  stop(): { peakMb: number; cpuSeconds: number } {
    clearInterval(this.#timer)
    this.#sample()
    return { peakMb: this.#peakMb, cpuSeconds: cpuOfTree(this.#pid) - this.#cpuBefore }
  }

  #sample(): void {
    this.#peakMb = Math.max(this.#peakMb, memoryOfTree(this.#pid))
  }
}

export function memoryOfTree(pid: number): number {
  return combinedMb(descendantsOf(pid))
}

const IDLE = { windowMs: 3_000, busySeconds: 0.3, maxWaitMs: 60_000 }

/** Waits until a contender that already responds has started all its processes. */
export async function waitUntilIdle(pid: number): Promise<void> {
  const endMs = performance.now() + IDLE.maxWaitMs
  for (let before = cpuOfTree(pid); performance.now() < endMs;) {
    await sleep(IDLE.windowMs)
    const now = cpuOfTree(pid)
    if (now - before < IDLE.busySeconds) return
    before = now
  }
}

function cpuOfTree(pid: number): number {
  return descendantsOf(pid).reduce((sum, one) => sum + (cpuSeconds(one) || 0), 0)
}
