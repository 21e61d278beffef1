import type { ExitErrand } from './exit-sender.ts'
import type { Delivery } from './delivery.ts'
import { headersFor, tracesUrl } from './send-batch.ts'

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

/** How long the end of a process may be held up for what it recorded last. */
const TIMEOUT_MS = 1000

/**
 * The last chance: what was not acknowledged goes to disk, where the next start finds it, and to the server at once when
 * that was answering.
 */
export function sendLastSteps(delivery: Delivery): void {
  const { target, state } = delivery
  if (target === undefined || !delivery.hasWork) return
  const paths: string[] = []
  const texts: string[] = []
  for (const batch of delivery.takeAll()) {
    const path = spoolOrNot(delivery, batch)
    if (path === undefined) texts.push(batch.text)
    else paths.push(path)
  }
  if (state === 'up')
    sendAtExit({ url: tracesUrl(target), headers: headersFor(target, false), paths, texts }, TIMEOUT_MS)
}

function spoolOrNot(delivery: Delivery, batch: Parameters<Delivery['spoolSync']>[0]): string | undefined {
  try {
    return delivery.spoolSync(batch)
  } catch {
    return undefined
  }
}
