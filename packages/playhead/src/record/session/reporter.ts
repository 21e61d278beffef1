import { writeSync } from 'node:fs'
import { safeForLog } from '@playhead/model'

const STDERR = 2

/** Prints warnings for the developer, at most one per topic. */
export class Reporter {
  isSilent = false
  readonly #reported = new Set<string>()

  once(topic: string, line: string): void {
    if (this.#reported.has(topic)) return
    this.#reported.add(topic)
    if (this.isSilent) return
    try {
      // Not `process.stderr`: the host would have to handle an error of that stream.
      writeSync(STDERR, `${safeForLog(`playhead: ${line}`)}\n`)
    } catch {
      this.isSilent = true
    }
  }
}
