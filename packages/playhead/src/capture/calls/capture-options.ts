import type { Tracer } from '@opentelemetry/api'

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
