import {
  ActiveCapture,
  activeCapture,
  setActiveCapture,
  type Capture,
  type CaptureOptions,
} from '../calls/active-capture.ts'
import { DispatcherHook } from './hook-dispatcher.ts'
import { hookFetch } from './hook-fetch.ts'
import { hookHttp } from './hook-http.ts'
import { UndiciWatcher } from './undici-watcher.ts'
import { WatchedRequests } from './watched-requests.ts'

export type { Capture, CaptureOptions } from '../calls/active-capture.ts'

/**
 * Records the calls to models that this process makes over HTTP, whatever client makes them. One capture is installed at
 * a time: the latest takes over.
 */
export function installCapture(options: CaptureOptions): Capture {
  activeCapture()?.uninstall()
  const capture = new ActiveCapture(options)
  const removers: (() => void)[] = []
  capture.uninstall = () => {
    for (const remove of removers.splice(0)) capture.guard(remove)
    if (activeCapture() === capture) setActiveCapture(undefined)
  }
  setActiveCapture(capture)
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
      `On ${runtime} calls to models are recorded through globalThis.fetch: build clients after init(), or wrap them ` +
        'with playhead.wrapOpenAI(client), wrapAnthropic(client) or wrapGoogleGenAI(client).',
    )
    return
  }
  const dispatchers = new DispatcherHook(capture, watched)
  removers.push(() => dispatchers.uninstall())
  // Inside a test runner's sandbox the dispatcher of the real global object is out of reach.
  if (!dispatchers.ensure()) removers.push(hookFetch(capture, watched))
  const watcher = new UndiciWatcher({ capture, watched, onUnwatched: () => dispatchers.ensure() })
  removers.push(() => watcher.uninstall(), hookHttp(capture))
}

/** Runtimes whose fetch is not undici's. */
function otherRuntime(): string | undefined {
  if (process.versions.bun !== undefined) return 'Bun'
  return process.versions.deno === undefined ? undefined : 'Deno'
}
