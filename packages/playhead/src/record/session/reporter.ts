import { writeSync } from 'node:fs'

const STDERR = 2

/** Says things to the developer, each once; a guest that repeats itself is thrown out. */
export class Reporter {
  isSilent = false
  readonly #said = new Set<string>()

  /** `topic` is what counts as having been said. */
  once(topic: string, line: string): void {
    if (this.#said.has(topic)) return
    this.#said.add(topic)
    this.say(line)
  }

  say(line: string): void {
    if (this.isSilent) return
    try {
      // Not `process.stderr`: an error of that stream would be the host's to handle.
      writeSync(STDERR, `playhead: ${line}\n`)
    } catch {
      this.isSilent = true
    }
  }

  /** What was said may be said again, for a situation that has changed. */
  forget(topic: string): void {
    this.#said.delete(topic)
  }
}
