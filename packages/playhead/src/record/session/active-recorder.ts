import type { Recorder } from './recorder.ts'
import { Reporter } from './reporter.ts'

/** A process may load this package twice, as an ES module and as CommonJS. Both copies use one recorder. */
const KEY = Symbol.for('playhead.recorder.0')

const holder = globalThis as { [KEY]?: Recorder | undefined }

/** Undefined before `init` and after `shutdown`. */
export function activeRecorder(): Recorder | undefined {
  const recorder = holder[KEY]
  return recorder?.isOn === true ? recorder : undefined
}

export function setRecorder(recorder: Recorder): void {
  holder[KEY] = recorder
}

const reporter = new Reporter()

/** Like `activeRecorder`, but warns once if `init` was never called. */
export function requireRecorder(call: string): Recorder | undefined {
  if (holder[KEY] === undefined)
    reporter.once(
      'init',
      `${call}() was called before init(), so nothing is recorded. Call playhead.init() when the program starts.`,
    )
  return activeRecorder()
}

/** Says once why there is no recorder, in place of the warning above. */
export function reportNoRecorder(line: string, isSilent: boolean): void {
  reporter.isSilent = isSilent
  reporter.once('init', line)
}
