import type { ExitErrand } from './exit-sender.ts'

/** In the repository it is next to this file, in the package next to the bundle. */
const script = new URL(
  import.meta.url.endsWith('.ts') ? './exit-sender.ts' : './exit-sender.cjs',
  import.meta.url,
)

/**
 * Sends batches while the process is on its way out, when it can wait for nothing but a thread. What does not get through
 * in time stays on disk.
 */
export function sendAtExit(errand: Omit<ExitErrand, 'done'>, timeoutMs: number): void {
  const { isMainThread, Worker } = process.getBuiltinModule('node:worker_threads')
  if (!isMainThread) return
  const done = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(script, {
    workerData: { ...errand, done } satisfies ExitErrand,
    execArgv: [],
    env: {},
    stdin: false,
    stdout: true,
    stderr: true,
  })
  worker.unref()
  Atomics.wait(done, 0, 0, timeoutMs)
}
