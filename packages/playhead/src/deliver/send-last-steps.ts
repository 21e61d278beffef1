import type { Delivery } from './delivery.ts'
import { sendAtExit } from './send-at-exit.ts'
import { headersFor, tracesUrl } from './send-batch.ts'

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
