import { InterruptedError } from './cli-error.ts'

const signals = ['SIGINT', 'SIGTERM'] as const

/** Runs work that has something to tidy up: Ctrl-C aborts it, a second one ends the process at once. */
export async function untilInterrupted<Result>(
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
