import { triesOf, type Budget, type Tries } from '@playhead/model'
import type { RerunLine, RunSpec } from '../../rerun/messages.ts'
import { runInChild } from '../../rerun/run-child.ts'
import { Progress, renderBar, runInterruptible } from '../terminal/progress.ts'
import type { Terminal } from '../terminal/terminal.ts'

export type ManyOptions = {
  concurrency: number
  budget: Budget | undefined
  terminal: Terminal
  /** Hears of each run as it ends, in any order. */
  onLine?: ((line: RerunLine, index: number) => void) | undefined
}

/** Runs agents again, some at the same time; Ctrl-C ends all of them. The results are in the order of the runs. */
export async function runMany(
  specs: readonly RunSpec[],
  { concurrency, budget, terminal, onLine }: ManyOptions,
): Promise<RerunLine[]> {
  const lines: RerunLine[] = []
  const progress = new Progress(terminal)
  let done = 0
  try {
    await runInterruptible(async (signal) => {
      const failed = new AbortController()
      const queue = specs.entries()
      const work = async () => {
        for (const [index, spec] of queue) {
          progress.show(`Running  ${renderBar(done, specs.length)}  ${done} of ${specs.length} runs`)
          const line = await runInChild(spec, { budget, signal: AbortSignal.any([signal, failed.signal]) })
          lines[index] = line
          done += 1
          onLine?.(line, index)
        }
      }
      const workers = Array.from({ length: Math.min(concurrency, specs.length) }, work)
      await Promise.all(workers).catch(async (error: unknown) => {
        failed.abort()
        await Promise.allSettled(workers)
        throw error
      })
    })
  } finally {
    progress.clear()
  }
  return lines
}

/** False if something stopped the run before its end: a miss, a missing stub, the budget. */
export function hasResult({ session, misses, reason }: RerunLine): boolean {
  return session !== null && !misses.some(({ sentence }) => sentence === reason)
}

/** How many of the runs that have a result passed. */
export function triesOfLines(lines: readonly RerunLine[]): Tries {
  return triesOf(lines.filter(hasResult))
}

/** 0 all did the same, 1 some did something else, 2 none has a result. */
export function exitCodeOfAll(lines: readonly RerunLine[]): number {
  if (lines.every(({ session }) => session === null)) return 2
  return lines.every(({ verdict }) => verdict === 'same') ? 0 : 1
}

/** What the runs have to say besides their results, each sentence once. */
export function notesOf(lines: readonly RerunLine[]): string[] {
  return [...new Set(lines.flatMap(({ notes = [] }) => notes))]
}
