import { Reporter } from './reporter.ts'
import type { Runtime } from '../../runtime/runtime.ts'

/** A process may load this package twice, as an ES module and as CommonJS; they record together. */
const KEY = Symbol.for('playhead.runtime.0')

type Holder = { [KEY]?: Runtime | undefined }

const holder = globalThis as Holder

/** What records in this process; undefined before `init` and after `shutdown`. */
export function activeRuntime(): Runtime | undefined {
  const runtime = holder[KEY]
  return runtime?.isOn === true ? runtime : undefined
}

/** The runtime that `init` made, on or off. */
export function knownRuntime(): Runtime | undefined {
  return holder[KEY]
}

export function setRuntime(runtime: Runtime): void {
  holder[KEY] = runtime
}

const reporter = new Reporter()

/** As `activeRuntime`, for calls that make no sense without it. */
export function requireRuntime(call: string): Runtime | undefined {
  const runtime = activeRuntime()
  if (runtime === undefined && knownRuntime() === undefined)
    reporter.once(
      'init',
      `${call}() was called before init(): nothing is recorded. Call playhead.init() when the program starts.`,
    )
  return runtime
}
