import { summarizeError } from '../../record/value/describe-error.ts'
import type { Span, Tracer } from '@opentelemetry/api'
import { Conversations } from './conversations.ts'

/** The installed capture: its options and counts. */
export class ActiveCapture {
  readonly options: CaptureOptions
  readonly conversations = new Conversations()
  captured = 0
  failed = 0
  uninstall: () => void = () => {}
  readonly #reported = new Set<string>()

  constructor(options: CaptureOptions) {
    this.options = options
  }

  /** Runs SDK code: an error in it is counted, reported once, and never reaches the host. */
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
    this.reportOnce(
      'fault',
      `A model call could not be recorded (${summarizeError(error)}). The call itself is not affected.`,
    )
  }

  /** Prints one line per topic. */
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

/** Shared by the ES module and the CommonJS copy of this package. */
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
  /** False keeps the structure of messages without their text. */
  content: boolean
  redactText: (text: string) => string
  /** True for keys whose values are always secret. */
  isSecretKey?: (key: string) => boolean
  maxValueBytes: number
  /** Prints a line for the developer. */
  report: (line: string) => void
  /** Called for a call that continues one of an earlier trace. */
  onContinued?: (span: Span, earlierTraceId: string) => void
  /** True for requests of the SDK itself. */
  isOwnRequest: (url: URL) => boolean
}

export type Capture = {
  /** Removes all hooks. */
  uninstall(): void
  counts(): { captured: number; failed: number }
}
