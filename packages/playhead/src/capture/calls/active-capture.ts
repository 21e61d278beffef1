import type { Tracer } from '@opentelemetry/api'

/** A capture that is installed: its options, and what it counts. */
export class ActiveCapture {
  readonly options: CaptureOptions
  captured = 0
  failed = 0
  uninstall: () => void = () => {}
  readonly #reported = new Set<string>()

  constructor(options: CaptureOptions) {
    this.options = options
  }

  /** Runs code of ours inside the host's: whatever goes wrong there is counted, reported once, and stays there. */
  guard<Result>(run: () => Result): Result | undefined {
    try {
      return run()
    } catch (error) {
      this.fail(error)
      return undefined
    }
  }

  fail(error: unknown): void {
    this.failed += 1
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    this.reportOnce(
      'fault',
      `A call to a model could not be recorded (${reason}). The call itself is not affected.`,
    )
  }

  /** One line per topic; a reporter that throws is not asked again for it. */
  reportOnce(topic: string, line: string): void {
    if (this.#reported.has(topic)) return
    this.#reported.add(topic)
    try {
      this.options.report(line)
    } catch {
      this.failed += 1
    }
  }
}

/** Shared by all copies of this package in a process: it comes as ES modules and as CommonJS. */
const key = Symbol.for('playhead.capture')

type Holder = { [key]?: ActiveCapture | undefined }

export function activeCapture(): ActiveCapture | undefined {
  return (globalThis as Holder)[key]
}

export function setActiveCapture(capture: ActiveCapture | undefined): void {
  ;(globalThis as Holder)[key] = capture
}

export type CaptureOptions = {
  tracer: () => Tracer
  /** False keeps the structure of what was said without its text. */
  content: boolean
  redactText: (text: string) => string
  /** True for keys whose value is a secret, whatever it looks like. */
  isSecretKey?: (key: string) => boolean
  maxValueBytes: number
  /** Takes lines that are meant for a person. */
  report: (line: string) => void
  /** True for requests of our own, which are no part of the agent. */
  isOwnRequest: (url: URL) => boolean
}

export type Capture = {
  /** Puts everything back as it was. */
  uninstall(): void
  counts(): { captured: number; failed: number }
}
