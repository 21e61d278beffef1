import { activeRuntime, knownRuntime, setRuntime } from '../record/session/active-runtime.ts'
import { Runtime } from './runtime.ts'
import { readSettings, type InitOptions } from './settings.ts'
import type { PlayheadSpanProcessor } from '../record/session/span-recorder.ts'

const FLUSH_MS = 10_000

/**
 * Begins to record. From here on calls to models are recorded by themselves, and `recordAction` and sessions do something.
 * Calling it again changes the settings for what follows.
 *
 * @example
 * playhead.init({ apiKey: "your-api-key" })
 */
export function init(options: InitOptions = {}): void {
  try {
    const settings = readSettings(options, process.env)
    let runtime = knownRuntime()
    if (runtime === undefined) {
      runtime = new Runtime(settings)
      setRuntime(runtime)
    }
    if (isProcessorWanted()) runtime.isJoined = true
    runtime.guard(() => runtime.configure(settings))
  } catch (error) {
    knownRuntime()?.fault(error)
  }
}

export type FlushOptions = {
  /** The longest that it takes; 10 seconds by default. */
  timeoutMs?: number | undefined
}

/**
 * Sends what was recorded and waits for it; true when the server has everything. It never throws.
 *
 * @example
 * export async function handler(event) {
 *   const reply = await runAgent(event.message)
 *   await playhead.flush() // a function in the cloud may be frozen as soon as it returns
 *   return reply
 * }
 */
export async function flush({ timeoutMs = FLUSH_MS }: FlushOptions = {}): Promise<boolean> {
  const runtime = activeRuntime()
  if (runtime === undefined) return true
  try {
    const [isDelivered] = await Promise.all([runtime.delivery.flush(timeoutMs), runtime.recordings.flush()])
    return isDelivered
  } catch (error) {
    runtime.fault(error)
    return false
  }
}

/** Ends what is open, sends everything, and stops recording until the next `init`. True when the server has everything. */
export async function shutdown({ timeoutMs = FLUSH_MS }: FlushOptions = {}): Promise<boolean> {
  const runtime = activeRuntime()
  if (runtime === undefined) return true
  try {
    return await runtime.stop(timeoutMs)
  } catch (error) {
    runtime.fault(error)
    return false
  }
}

/**
 * A span processor for a program that has a tracer provider of its own: its spans join the sessions, and what Playhead
 * records goes through the same provider. `init` is called as usual.
 *
 * @example
 * const provider = new NodeTracerProvider({ spanProcessors: [playhead.playheadSpanProcessor(), ...others] })
 * provider.register()
 * playhead.init()
 */
export function playheadSpanProcessor(): PlayheadSpanProcessor {
  wantProcessor()
  const known = knownRuntime()
  if (known !== undefined) known.isJoined = true
  return {
    onStart: (span, parentContext) => activeRuntime()?.recorder.onStart(span, parentContext),
    onEnd: (span) => activeRuntime()?.recorder.onEnd(span),
    forceFlush: () => flush().then(() => undefined),
    shutdown: () => flush().then(() => undefined),
  }
}

let isWanted = false

/** Called when the program makes our processor, which it will add to its provider. */
function wantProcessor(): void {
  isWanted = true
}

function isProcessorWanted(): boolean {
  return isWanted
}
