/** Something went wrong that the user can do something about: the message says what. Anything else that is thrown is a bug. */
export class CliError extends Error {
  override readonly name: string = 'CliError'
  readonly exitCode: number = 1
}

/** The command was not typed as it has to be. */
export class UsageError extends CliError {
  override readonly name = 'UsageError'
  override readonly exitCode = 2
}

/** Ctrl-C: nothing needs to be said, and the exit code is what a shell expects. */
export class InterruptedError extends CliError {
  override readonly name = 'InterruptedError'
  override readonly exitCode = 130
}

/** The command did what it was asked, and its answer is an exit code. */
export class QuietExit extends CliError {
  override readonly name = 'QuietExit'
  override readonly exitCode: number

  constructor(exitCode: number) {
    super()
    this.exitCode = exitCode
  }
}
