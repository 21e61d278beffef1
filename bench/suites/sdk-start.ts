import { execFile, execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { percentile } from '../harness/percentile.ts'

const PROCESSES = 21
const folder = fileURLToPath(new URL('../../packages/playhead/', import.meta.url))
const builder = fileURLToPath(new URL('../../node_modules/tsdown/dist/run.mjs', import.meta.url))

/** Imports the package as it is published, and calls `init()` with capture on, as programs do. */
const program = `
const startedAtMs = performance.now()
const { init } = await import('playhead')
const importedAtMs = performance.now()
const cpuBefore = process.cpuUsage()
init({ endpoint: 'http://127.0.0.1:9' })
const initMs = performance.now() - importedAtMs
const { user, system } = process.cpuUsage(cpuBefore)
process.stdout.write(JSON.stringify({ importMs: importedAtMs - startedAtMs, initMs, initCpuMs: (user + system) / 1000 }))
process.exit()
`

export type StartCost = { importMs: number; initMs: number; initCpuMs: number; processes: number }

/** How long a program waits for the SDK when it starts: the medians of fresh processes. */
export async function measureStart(): Promise<StartCost> {
  execFileSync(process.execPath, [builder], { cwd: folder, stdio: 'ignore' })
  const starts: Omit<StartCost, 'processes'>[] = []
  for (let index = 0; index < PROCESSES; index += 1) starts.push(await startOnce())
  const medianOf = (field: keyof (typeof starts)[number]) =>
    percentile(
      starts.map((start) => start[field]),
      0.5,
    )
  return {
    importMs: medianOf('importMs'),
    initMs: medianOf('initMs'),
    initCpuMs: medianOf('initCpuMs'),
    processes: PROCESSES,
  }
}

async function startOnce(): Promise<Omit<StartCost, 'processes'>> {
  const args = ['--input-type=module', '--eval', program]
  // Without a spool, so that no undelivered steps of earlier programs are looked for.
  const env = { ...process.env, PLAYHEAD_SPOOL: 'off' }
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env })
  return JSON.parse(stdout) as Omit<StartCost, 'processes'>
}
