import type { Delivery } from './delivery.ts'
import type { ExitSenderInput } from './exit-sender.ts'
import { headersFor, tracesUrl } from './send-batch.ts'

/**
 * The last attempt: spools what was not acknowledged, so that the next start finds it, and sends it right away if the
 * server was reachable. Delays the exit for up to `maxDelayMs`.
 */
export function sendAtExit(delivery: Delivery, maxDelayMs: number): void {
  const { target, state } = delivery
  if (target === undefined || !delivery.hasWork) return
  const paths: string[] = []
  const unspooled: Uint8Array[] = []
  for (const batch of delivery.takeAll()) {
    const path = delivery.spoolSync(batch)
    if (path === undefined) unspooled.push(batch.bytes)
    else paths.push(path)
  }
  if (state === 'up')
    runSender({ url: tracesUrl(target), headers: headersFor(target, false), paths, unspooled }, maxDelayMs)
}

/** Next to this file in the repository, next to the bundle in the package. */
const script = new URL(
  import.meta.url.endsWith('.ts') ? './exit-sender.ts' : './exit-sender.cjs',
  import.meta.url,
)

/** Sends from a worker thread, the only thing that an exiting process can wait for. */
function runSender(input: Omit<ExitSenderInput, 'done'>, maxDelayMs: number): void {
  const { isMainThread, Worker } = process.getBuiltinModule('node:worker_threads')
  if (!isMainThread) return
  const done = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(script, {
    workerData: { ...input, done } satisfies ExitSenderInput,
    execArgv: [],
    env: {},
    stdin: false,
    stdout: true,
    stderr: true,
  })
  worker.unref()
  Atomics.wait(done, 0, 0, maxDelayMs)
}
