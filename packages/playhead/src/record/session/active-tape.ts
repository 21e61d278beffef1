import { AsyncLocalStorage } from 'node:async_hooks'
import type { Effect, Replay, TapedResponse } from '@playhead/model'
import { isOnNetwork } from './own-connection.ts'

export type TapeRequest = { method: string; url: URL; headers: Record<string, string>; body: Uint8Array }

/** Sees the response of a request that went to the network: bytes as they came, without content encoding if the server agrees. */
export type ResponseTap = {
  onHead(status: number, headers: Record<string, string>): void
  onChunk(bytes: Uint8Array): void
  onEnd(error?: unknown): void
}

/** A taped response, whose chunks may be cut anywhere. */
export type ServedResponse =
  | (Omit<Extract<TapedResponse, { kind: 'response' }>, 'chunks'> & { chunks: (string | Uint8Array)[] })
  | Extract<TapedResponse, { kind: 'connection-error' }>

export type TapeAnswer =
  | ServedResponse
  /** Goes to the network, perhaps with another body, or to another path of the same host. */
  | { kind: 'live'; body?: Uint8Array; url?: URL; tap?: ResponseTap }

/** What an action returned or threw, after its promise settled, and what was recorded of it: result, types, error. */
export type ActionOutcome = ({ value: unknown } | { error: unknown }) & {
  attributes: Record<string, unknown>
}

/** From the data of a recorded result to what the function returns. */
export type Revive = (data: unknown) => unknown

export type ActionCall = {
  name: string
  /** As they are recorded. */
  arguments: unknown
  /** As the host gave them. */
  args: unknown[]
  fn: (...args: never[]) => unknown
  /** As declared in the code of today. */
  effect?: Effect | undefined
  replay?: Replay | undefined
  revive?: Revive | undefined
}

export type TapedAction =
  | { kind: 'value'; value: unknown; source?: 'tape' | 'stub' }
  | { kind: 'error'; error: unknown; source?: 'tape' | 'stub' }
  /** Runs, perhaps with other arguments. */
  | { kind: 'run'; args?: unknown[]; onResult?(outcome: ActionOutcome): void; source?: 'live' }

/** Answers a run in place of the network and of its tools. */
export type ActiveTape = {
  /** True if nothing of this run may reach the network. */
  readonly isStrict: boolean
  respond(request: TapeRequest): TapeAnswer | Promise<TapeAnswer>
  act(call: ActionCall): TapedAction
  /** The run tried to reach the network other than by HTTP, or to start a program, and was refused. */
  onRefused?(sentence: string): void
}

type Tapes = {
  find: (() => ActiveTape | undefined) | undefined
  /** The tape of a run in its async context; null where a run has none. */
  readonly context: AsyncLocalStorage<ActiveTape | null>
  /** The tapes that are bound to a context at the moment. */
  readonly bound: Set<ActiveTape>
}

/** Shared by the ES module and the CommonJS copy of this package. */
const KEY = Symbol.for('playhead.tape.0')

const holder = globalThis as { [KEY]?: Tapes }

function tapes(): Tapes {
  holder[KEY] ??= { find: undefined, context: new AsyncLocalStorage(), bound: new Set() }
  return holder[KEY]
}

/** The tape of the current run; undefined unless it runs from one. */
export function activeTape(): ActiveTape | undefined {
  const known = holder[KEY]
  if (known === undefined) return undefined
  const bound = known.context.getStore()
  return bound === undefined ? known.find?.() : (bound ?? undefined)
}

/** Sets the tape of the whole process. `find` tells which one the current run belongs to. */
export function setTape(find: (() => ActiveTape | undefined) | undefined): void {
  tapes().find = find
}

/** Binds a tape to everything that `run` does, until it settles; null for a run without a tape beside others. */
export async function withTape<Result>(tape: ActiveTape | null, run: () => Result): Promise<Awaited<Result>> {
  const { context, bound } = tapes()
  if (tape !== null) bound.add(tape)
  try {
    return await context.run(tape, run)
  } finally {
    if (tape !== null) bound.delete(tape)
  }
}

/**
 * The tape that answers a request. Clients with pools and queues leave the context of the run; then it is the only tape
 * that is bound. With several nobody knows, so the request is refused.
 */
export function tapeOfRequest(): ActiveTape | undefined {
  if (isOnNetwork()) return undefined
  const found = activeTape()
  if (found !== undefined || holder[KEY] === undefined) return found
  const { context, bound } = holder[KEY]
  if (context.getStore() === null || bound.size === 0) return undefined
  return bound.size === 1 ? [...bound][0] : unclearTape
}

const UNCLEAR =
  'Several runs with a tape are active, and the client that made this request does not keep its async context, ' +
  'so it is unclear which tape answers. Run them one after the other, or create the client inside the run.'

/** Understood by the clients of OpenAI and Anthropic. */
const unclearError = JSON.stringify({
  type: 'error',
  error: { type: 'invalid_request_error', code: 'playhead_miss', message: UNCLEAR },
})

const unclearTape: ActiveTape = {
  isStrict: true,
  respond: () => ({
    kind: 'response',
    status: 400,
    headers: { 'content-type': 'application/json', 'x-should-retry': 'false' },
    chunks: [unclearError],
  }),
  act: () => ({ kind: 'run' }),
}
