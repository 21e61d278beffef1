import { createProgram, STEPS_PER_SESSION } from './program.ts'
import { withoutRecording, type Recording } from './recording.ts'

/** node main.ts <none|otel|playhead> <endpoint> <sessions>: prints the cost of its steps as JSON. */
const [way = 'none', endpoint = '', sessions = '2000'] = process.argv.slice(2)

const WARM_UP = 300
const recording = await prepare(way)
const program = createProgram(recording)
await run(WARM_UP)
await recording.finish()
globalThis.gc?.()
const before = { heap: process.memoryUsage().heapUsed, cpu: process.cpuUsage(), at: performance.now() }
await run(Number(sessions))
const inFlightMs = performance.now() - before.at
await recording.finish()
const cpu = process.cpuUsage(before.cpu)
globalThis.gc?.()
const steps = Number(sessions) * STEPS_PER_SESSION
process.stdout.write(
  JSON.stringify({
    steps,
    allSteps: steps + WARM_UP * STEPS_PER_SESSION,
    cpuMicroseconds: (cpu.user + cpu.system) / steps,
    wallMicroseconds: (inFlightMs * 1000) / steps,
    heapBytes: (process.memoryUsage().heapUsed - before.heap) / steps,
  }),
)
process.exit()

async function prepare(name: string): Promise<Recording> {
  if (name === 'otel') return (await import('./record-with-otel.ts')).recordWithOtel(endpoint)
  if (name === 'playhead') return (await import('./record-with-playhead.ts')).recordWithPlayhead(endpoint)
  return withoutRecording
}

/** Runs sessions in small groups, with a turn of the event loop in between, like a server. */
async function run(count: number): Promise<void> {
  for (let done = 0; done < count; done += 10) {
    await Promise.all(Array.from({ length: Math.min(10, count - done) }, () => program.runSession()))
    await new Promise((resolve) => setImmediate(resolve))
  }
}
