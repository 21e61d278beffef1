import { AsyncLocalStorage } from 'node:async_hooks'

/** In the options of an HTTP agent or a socket: the connection is the SDK's own, and no tape answers it. */
export const OWN_CONNECTION = Symbol.for('playhead.own-connection')

/** Shared by the ES module and the CommonJS copy of this package. */
const KEY = Symbol.for('playhead.own-connections.0')

const holder = globalThis as { [KEY]?: AsyncLocalStorage<boolean> }

/** Connections that `run` opens reach the network, whatever tape is active. */
export function onNetwork<Result>(run: () => Result): Result {
  holder[KEY] ??= new AsyncLocalStorage()
  return holder[KEY].run(true, run)
}

export function isOnNetwork(): boolean {
  return holder[KEY]?.getStore() === true
}

/** True for the options of `connect`, or of a request, if they carry the mark. */
export function isOwnConnection(options: unknown): boolean {
  if (isOnNetwork()) return true
  return typeof options === 'object' && options !== null && OWN_CONNECTION in options
}
