import {
  ActiveCapture,
  activeCapture,
  setActiveCapture,
  type Capture,
  type CaptureOptions,
} from '../calls/active-capture.ts'
import { outerRealm } from './outer-realm.ts'
import { DispatcherHook } from './hook-dispatcher.ts'
import { hookFetch } from './hook-fetch.ts'
import { hookHttp } from './hook-http.ts'
import { UndiciHook } from './hook-undici.ts'
import { WatchedRequests } from './watched-requests.ts'

export type { Capture, CaptureOptions } from '../calls/active-capture.ts'

const KEY = Symbol.for('playhead.capture.uninstall')

/**
 * Records the model calls that this process makes over HTTP, with any client. Only one capture is installed at a time:
 * the latest replaces the previous one.
 */
export function installCapture(options: CaptureOptions): Capture {
  activeCapture()?.uninstall()
  // One of a test file that has ended: it was in another sandbox of this process.
  const outer = outerRealm()
  outer[KEY]?.()
  const capture = new ActiveCapture(options)
  const removers: (() => void)[] = []
  capture.uninstall = () => {
    for (const remove of removers.splice(0)) capture.guard(remove)
    if (activeCapture() === capture) setActiveCapture(undefined)
    if (outer[KEY] === capture.uninstall) outer[KEY] = undefined
  }
  setActiveCapture(capture)
  outer[KEY] = capture.uninstall
  capture.guard(() => hook(capture, removers))
  return {
    uninstall: capture.uninstall,
    counts: () => ({ captured: capture.captured, failed: capture.failed }),
  }
}

function hook(capture: ActiveCapture, removers: (() => void)[]): void {
  const watched = new WatchedRequests()
  const runtime = otherRuntime()
  if (runtime !== undefined) {
    removers.push(hookFetch(capture, watched))
    capture.reportOnce(
      'runtime',
      `On ${runtime}, model calls are recorded through globalThis.fetch. Create clients after init(), or wrap them ` +
        'with playhead.wrapOpenAI(client), wrapAnthropic(client) or wrapGoogleGenAI(client).',
    )
    return
  }
  const dispatchers = new DispatcherHook(capture, watched)
  removers.push(() => dispatchers.uninstall())
  dispatchers.ensure()
  const undici = new UndiciHook({ capture, watched, onUnwatched: () => dispatchers.ensure() })
  removers.push(() => undici.uninstall(), hookHttp(capture))
}

/** Runtimes whose fetch is not undici's. */
function otherRuntime(): string | undefined {
  if (process.versions.bun !== undefined) return 'Bun'
  return process.versions.deno === undefined ? undefined : 'Deno'
}
