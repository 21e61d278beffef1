import { InterruptedError } from './cli-error.ts'
import { cutToWidth } from './printable-text.ts'
import type { Terminal } from './terminal.ts'

const FIRST_DRAW_AFTER_MS = 300
const REDRAW_AFTER_MS = 100
const BAR_WIDTH = 24

/** A status line on stderr that redraws itself while a command runs. Prints nothing unless stderr is a terminal. */
export class Progress {
  readonly #terminal: Terminal
  readonly #isTerminal: boolean
  #nextDrawAtMs = performance.now() + FIRST_DRAW_AFTER_MS
  #isDrawn = false

  constructor(terminal: Terminal) {
    this.#terminal = terminal
    this.#isTerminal = terminal.stderr.isTTY === true && terminal.environment.TERM !== 'dumb'
  }

  show(line: string): void {
    const now = performance.now()
    if (!this.#isTerminal || now < this.#nextDrawAtMs) return
    this.#nextDrawAtMs = now + REDRAW_AFTER_MS
    const width = (this.#terminal.stderr.columns ?? this.#terminal.width) - 1
    this.#terminal.stderr.write(`\r${cutToWidth(line, width)}\u001B[K`)
    this.#isDrawn = true
  }

  /** Erases the line. */
  clear(): void {
    if (this.#isDrawn) this.#terminal.stderr.write('\r\u001B[K')
    this.#isDrawn = false
  }
}

/** "██████░░░░░░  25%" */
export function renderBar(done: number, total: number): string {
  const part = total === 0 ? 1 : Math.min(1, done / total)
  const full = Math.round(part * BAR_WIDTH)
  return `${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)} ${String(Math.floor(part * 100)).padStart(3)}%`
}

const signals = ['SIGINT', 'SIGTERM'] as const

/** Runs work that has to clean up: the first Ctrl-C aborts it, the second ends the process at once. */
export async function runInterruptible<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController()
  const interrupt = () => controller.abort()
  for (const signal of signals) process.once(signal, interrupt)
  try {
    return await work(controller.signal)
  } catch (error) {
    throw controller.signal.aborted ? new InterruptedError('Interrupted.', { cause: error }) : error
  } finally {
    for (const signal of signals) process.off(signal, interrupt)
  }
}
