import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../../test/temporary-folder.ts'
import { prepareEngine } from './engine-child.ts'
import { engineProblem, startEngine } from './start-engine.ts'

test('names the alternatives where the engine has no build', () => {
  const windows = engineProblem({ platform: 'win32', arch: 'x64', isMusl: false })
  const alpine = engineProblem({ platform: 'linux', arch: 'x64', isMusl: true })
  const power = engineProblem({ platform: 'linux', arch: 'ppc64', isMusl: false })

  expect(windows).toMatch(/Windows.*WSL2.*CLICKHOUSE_URL/)
  expect(alpine).toMatch(/musl.*node:24-slim.*CLICKHOUSE_URL/)
  expect(power).toMatch(/ppc64.*CLICKHOUSE_URL/)
})

test('has builds for glibc Linux and macOS on x64 and arm64', () => {
  for (const platform of ['linux', 'darwin'] as const) {
    for (const arch of ['x64', 'arm64'])
      expect(engineProblem({ platform, arch, isMusl: false })).toBeUndefined()
  }
})

test('an engine that starts slower than expected is given more time, until it runs', async () => {
  const reports: string[] = []
  const engine = await startEngine({
    path: await temporaryFolder(),
    report: (line) => void reports.push(line),
    startTimeoutMs: 100,
  })
  onTestFinished(() => engine.stop())
  const restarted = new Promise<void>((resolve) => (engine.onRestarted = () => resolve()))

  process.kill(engine.pid!, 'SIGKILL')
  await restarted

  expect(reports.slice(0, 2)).toEqual([
    'the embedded engine exited (SIGKILL); restarting it',
    'could not start the embedded engine: no response within 0.1 s',
  ])
})

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s to the whole service leaves the engine to its server',
  async (signal) => {
    const reports: string[] = []
    const engine = await startEngine({
      path: await temporaryFolder(),
      report: (line) => void reports.push(line),
      heartbeatMs: 50,
    })
    const { pid } = engine

    process.kill(pid!, signal)
    await new Promise((resolve) => setTimeout(resolve, 300))

    expect([engine.pid, engine.restarts, reports]).toEqual([pid, 0, []])
    await engine.stop()
  },
)

test('an engine that was killed at the moment of its stop does not fail the stop', async () => {
  const reports: string[] = []
  const engine = await startEngine({
    path: await temporaryFolder(),
    report: (line) => void reports.push(line),
  })

  process.kill(engine.pid!, 'SIGKILL')
  // The process is gone, and nobody has noticed yet.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
  await engine.stop()

  expect(reports).toEqual([])
})

test('an engine whose server runs at a lower priority keeps it: only root may raise it', async () => {
  const main = fileURLToPath(new URL('./engine-main.ts', import.meta.url))
  const options = { path: join(await temporaryFolder(), 'tables'), listen: 0, password: 'secret', nice: 10 }
  const command = [process.execPath, '--conditions=playhead-source', main]
  const child = spawn('nice', ['-n', '15', ...command], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  onTestFinished(() => void child.kill('SIGKILL'))

  child.send({ open: options })
  await once(child, 'message')

  expect(getPriority(child.pid)).toBeGreaterThanOrEqual(15)
})

test('the engine process that was prepared opens the folder', async () => {
  const prepared = prepareEngine()

  const engine = await startEngine({ path: await temporaryFolder(), report: () => undefined })
  onTestFinished(() => engine.stop())

  expect(engine.pid).toBe(prepared)
})

test('a prepared engine process that has ended is replaced', async () => {
  const prepared = prepareEngine()
  process.kill(prepared!, 'SIGKILL')
  await expect.poll(() => isRunning(prepared!)).toBe(false)

  const engine = await startEngine({ path: await temporaryFolder(), report: () => undefined })
  onTestFinished(() => engine.stop())

  expect(engine.pid).not.toBe(prepared)
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
