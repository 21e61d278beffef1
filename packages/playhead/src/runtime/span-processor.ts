import { knownRuntime, activeRuntime } from '../record/session/active-runtime.ts'
import { flush } from './init.ts'
import type { PlayheadSpanProcessor } from '../record/session/span-recorder.ts'
import { wantProcessor } from './wanted-processor.ts'

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
