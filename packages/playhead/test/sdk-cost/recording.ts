type AnyFunction = (...args: never[]) => unknown

/** One way to record a program. */
export type Recording = {
  wrap<Fn extends AnyFunction>(name: string, fn: Fn): Fn
  withSession(name: string, fn: () => Promise<void>): Promise<void>
  /** Delivers everything that is left. */
  finish(): Promise<void>
}

export const withoutRecording: Recording = {
  wrap: (_name, fn) => fn,
  withSession: (_name, fn) => fn(),
  finish: () => Promise.resolve(),
}
