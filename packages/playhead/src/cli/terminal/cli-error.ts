/** A failure the user can act on; the message says how. Anything else that is thrown is a bug. */
export class CliError extends Error {
  override readonly name: string = 'CliError'
  readonly exitCode: number = 1
}

/** The command line is invalid. */
export class UsageError extends CliError {
  override readonly name = 'UsageError'
  override readonly exitCode = 2
}

/** Ctrl-C: prints nothing and exits with the code shells expect. */
export class InterruptedError extends CliError {
  override readonly name = 'InterruptedError'
  override readonly exitCode = 130
}

/** The command succeeded, and its result is the exit code. */
export class QuietExit extends CliError {
  override readonly name = 'QuietExit'
  override readonly exitCode: number

  constructor(exitCode: number) {
    super()
    this.exitCode = exitCode
  }
}

class NoResultError extends CliError {
  override readonly name = 'NoResultError'
  override readonly exitCode = 2
}

/** Rethrows a failure with exit code 2, for commands whose exit code 1 is a result. */
export function throwNoResult(error: unknown): never {
  if (!(error instanceof CliError) || error.exitCode !== 1) throw error
  throw new NoResultError(error.message, { cause: error })
}
