/** Shows progress: one line that updates in place on a terminal, and an occasional line elsewhere. */
export class Progress {
  readonly #stream: NodeJS.WriteStream
  #lastLineMs = 0
  #lastStep = ''

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream
  }

  /** `share` is the completed part of the step, from 0 to 1. */
  show(step: string, share?: number, note = ''): void {
    const done = share === undefined ? '' : ` ${bar(share)} ${String(Math.round(share * 100)).padStart(3)}%`
    const line = `${step}${done}${note === '' ? '' : `  ${note}`}`
    const intervalMs = this.#stream.isTTY ? TERMINAL_INTERVAL_MS : PLAIN_INTERVAL_MS
    if (step === this.#lastStep && performance.now() - this.#lastLineMs < intervalMs) return
    if (this.#stream.isTTY) this.#stream.write(`\r\u001b[2K${line.slice(0, this.#stream.columns - 1)}`)
    else this.#stream.write(`${line}\n`)
    this.#lastLineMs = performance.now()
    this.#lastStep = step
  }

  end(): void {
    if (this.#stream.isTTY) this.#stream.write('\r\u001b[2K')
  }
}

const TERMINAL_INTERVAL_MS = 100
const PLAIN_INTERVAL_MS = 15_000
const BAR_LENGTH = 20

function bar(share: number): string {
  const full = Math.max(0, Math.min(BAR_LENGTH, Math.round(share * BAR_LENGTH)))
  return `[${'#'.repeat(full)}${'.'.repeat(BAR_LENGTH - full)}]`
}
