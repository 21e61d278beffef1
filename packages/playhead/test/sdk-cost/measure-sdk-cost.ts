import { execFile, fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** The cost of one step. */
export type StepCost = {
  cpuMicroseconds: number
  wireBytes: number
  /** Bytes of heap that are still held after everything was delivered. */
  heapBytes: number
}

export type SdkCost = {
  none: StepCost
  otel: StepCost
  playhead: StepCost
  /** The CPU time that Playhead adds to a step, divided by what OpenTelemetry's batch processor and OTLP exporter add. */
  ratio: number
}

export type SdkCostOptions = {
  /** How often each way is measured. They take turns, so that all see the same machine. */
  rounds?: number
  sessions?: number
}

const ways = ['none', 'otel', 'playhead'] as const
const run = promisify(execFile)

/** Measures the same program without recording, with OpenTelemetry's SDK, and with Playhead. */
export async function measureSdkCost(options: SdkCostOptions = {}): Promise<SdkCost> {
  const { rounds = 9, sessions = 4000 } = options
  const sink = fork(fileURLToPath(new URL('sink.ts', import.meta.url)))
  try {
    const [url] = (await once(sink, 'message')) as [string]
    const costs: Record<(typeof ways)[number], StepCost[]> = { none: [], otel: [], playhead: [] }
    for (let round = 0; round < rounds; round += 1)
      for (const way of ways) costs[way].push(await measureOnce(way, { url, sink, sessions }))
    const [none, otel, playhead] = ways.map((way) => quietOf(costs[way]))
    const ratio =
      (playhead!.cpuMicroseconds - none!.cpuMicroseconds) / (otel!.cpuMicroseconds - none!.cpuMicroseconds)
    return { none: none!, otel: otel!, playhead: playhead!, ratio }
  } finally {
    sink.kill()
  }
}

type Setup = { url: string; sink: ChildProcess; sessions: number }

async function measureOnce(way: string, { url, sink, sessions }: Setup): Promise<StepCost> {
  const script = fileURLToPath(new URL('main.ts', import.meta.url))
  const args = ['--conditions=playhead-source', '--expose-gc', script, way, url, String(sessions)]
  const { stdout } = await run(process.execPath, args)
  const { steps, cpuMicroseconds, heapBytes, allSteps } = JSON.parse(stdout) as StepCost & {
    steps: number
    allSteps: number
  }
  const reply = once(sink, 'message')
  sink.send('bytes received?')
  const [bytes] = (await reply) as [number]
  return { cpuMicroseconds, heapBytes, wireBytes: steps === 0 ? 0 : bytes / allSteps }
}

/** The 25th percentile, because other programs can only make a round slower. */
const QUIET = 0.25

function quietOf(costs: StepCost[]): StepCost {
  const quiet = (field: keyof StepCost) =>
    costs.map((cost) => cost[field]).toSorted((left, right) => left - right)[
      Math.floor((costs.length - 1) * QUIET)
    ]!
  return {
    cpuMicroseconds: quiet('cpuMicroseconds'),
    wireBytes: quiet('wireBytes'),
    heapBytes: quiet('heapBytes'),
  }
}
