import type { TapedResponse } from '@playhead/model'

export type TapeRequest = { method: string; url: URL; body: Uint8Array }

/** The result of an action that was not run. */
export type TapedResult = { value: unknown } | { error: unknown }

/** Answers a run in place of the network and of its tools. */
export type ActiveTape = {
  /** Undefined lets the request through. */
  respond(request: TapeRequest): TapedResponse | undefined
  /** Undefined lets the function run. */
  act(call: { name: string; arguments: unknown; fn: (...args: never[]) => unknown }): TapedResult | undefined
}

/** Shared by the ES module and the CommonJS copy of this package. */
const KEY = Symbol.for('playhead.tape.0')

const holder = globalThis as { [KEY]?: (() => ActiveTape | undefined) | undefined }

/** Undefined unless the process runs from a tape. */
export function activeTape(): ActiveTape | undefined {
  return holder[KEY]?.()
}

/** `find` tells which tape the current run belongs to. */
export function setTape(find: (() => ActiveTape | undefined) | undefined): void {
  holder[KEY] = find
}
