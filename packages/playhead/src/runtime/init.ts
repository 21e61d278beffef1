import type { Context, Span } from '@opentelemetry/api'
import type { RecordedSpan } from '../record/opentelemetry/recorded-span.ts'
import { activeRecorder, reportNoRecorder, setRecorder } from '../record/session/active-recorder.ts'
import { readField } from '../record/value/host-value.ts'
import { findNodeProblem } from './node-version.ts'
import { imposeRunSettings } from './run-settings.ts'
import { knownRuntime, Runtime, setRuntime } from './runtime.ts'
import { readSettings, type InitOptions } from './settings.ts'

const FLUSH_TIMEOUT_MS = 10_000

/**
 * Starts recording. From here on, model calls are recorded automatically, and `recordAction` and sessions take effect.
 * Calling it again changes the settings.
 *
 * @example
 * playhead.init({ apiKey: "your-api-key" })
 */
export function init(options: InitOptions = {}): void {
  try {
    const problem = findNodeProblem(process.versions)
    if (problem !== undefined)
      return reportNoRecorder(
        `The SDK ${problem}, so nothing is recorded.`,
        readField(options, 'silent') === true,
      )
    const settings = imposeRunSettings(readSettings(options, process.env))
    let runtime = knownRuntime()
    if (runtime === undefined) {
      runtime = new Runtime(settings)
      setRuntime(runtime)
      setRecorder(runtime.recorder)
    }
    const { recorder } = runtime
    if (isProcessorCreated) recorder.hasHostProcessor = true
    recorder.guard(() => runtime.configure(settings))
  } catch (error) {
    knownRuntime()?.recorder.fault(error)
  }
}

export type FlushOptions = {
  /** 10 seconds by default. */
  timeoutMs?: number | undefined
}

/**
 * Sends everything that was recorded and waits for it. Returns true if the server has everything that was recorded since
 * the last call: false if it does not respond, or if steps were dropped or rejected. Never throws.
 *
 * @example
 * export async function handler(event) {
 *   const reply = await runAgent(event.message)
 *   await playhead.flush() // a serverless function may be frozen as soon as it returns
 *   return reply
 * }
 */
export function flush(options: FlushOptions = {}): Promise<boolean> {
  return whileOn((runtime) => runtime.flush(timeoutOf(options)))
}

/** Ends open sessions, sends everything, and stops recording until the next `init`. Returns true if the server has everything. */
export function shutdown(options: FlushOptions = {}): Promise<boolean> {
  return whileOn((runtime) => runtime.stop(timeoutOf(options)))
}

/** Timers of Node have 31 bits. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

function timeoutOf(options: unknown): number {
  const timeoutMs = readField(options, 'timeoutMs')
  if (typeof timeoutMs !== 'number' || Number.isNaN(timeoutMs)) return FLUSH_TIMEOUT_MS
  return Math.min(Math.max(0, timeoutMs), MAX_TIMEOUT_MS)
}

async function whileOn(run: (runtime: Runtime) => Promise<boolean>): Promise<boolean> {
  const runtime = knownRuntime()
  if (runtime?.recorder.isOn !== true) return true
  try {
    return await run(runtime)
  } catch (error) {
    runtime.recorder.fault(error)
    return false
  }
}

/** The subset of OpenTelemetry's `SpanProcessor` that all major versions share. */
export type PlayheadSpanProcessor = {
  onStart(span: Span, parentContext: Context): void
  onEnd(span: RecordedSpan): void
  forceFlush(): Promise<void>
  shutdown(): Promise<void>
}

let isProcessorCreated = false

/**
 * A span processor for programs that set up OpenTelemetry themselves. Their spans become part of the sessions, and what
 * Playhead records goes through the same tracer provider. Call `init` as usual.
 *
 * @example
 * const provider = new NodeTracerProvider({ spanProcessors: [playhead.playheadSpanProcessor(), ...others] })
 * provider.register()
 * playhead.init()
 */
export function playheadSpanProcessor(): PlayheadSpanProcessor {
  isProcessorCreated = true
  const runtime = knownRuntime()
  if (runtime !== undefined) runtime.recorder.hasHostProcessor = true
  return {
    onStart: (span, parentContext) => activeRecorder()?.spans.onStart(span, parentContext),
    onEnd: (span) => activeRecorder()?.spans.onEnd(span),
    forceFlush: () => flush().then(() => undefined),
    shutdown: () => flush().then(() => undefined),
  }
}
