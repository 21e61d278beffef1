import { missResponse } from '@playhead/model'
import { trueNowMs } from '../record/opentelemetry/clock.ts'
import { setTape, tapeOfRequest, type ActiveTape, type TapeRequest } from '../record/session/active-tape.ts'
import { hookSockets } from './hook-sockets.ts'
import { pinClock } from './pin-clock.ts'
import { refuseSpawn } from './refuse-spawn.ts'
import { buildWall, isWallUp } from './wall.ts'

export type PlayOptions = {
  /** Programs that a strict run may start. */
  allowSpawn?: readonly string[] | 'all' | undefined
  /** When the recorded run began, in milliseconds since 1970: `Date` begins there again. */
  clockAt?: number | undefined
}

export type Playing = {
  /** A run that goes live needs the true time, because requests are signed with it. */
  unpinClock(): void
  stop(): void
}

type Settings = { allowSpawn: readonly string[] | 'all'; clockOffsetMs: number }

const playing = new Map<ActiveTape, Settings>()
let unhook = () => {}
let unpin: (() => void) | undefined

/**
 * Makes every client of this process ask its tape, not only those that capture sees, and puts strict runs behind a wall.
 * Bind the tape with `setTape` or `withTape`.
 */
export function playTape(tape: ActiveTape, { allowSpawn = [], clockAt }: PlayOptions = {}): Playing {
  if (playing.size === 0) unhook = hookAll()
  const settings = { allowSpawn, clockOffsetMs: clockAt === undefined ? 0 : clockAt - trueNowMs() }
  playing.set(tape, settings)
  if (clockAt !== undefined) unpin ??= pinClock(() => settingsOfRun()?.clockOffsetMs ?? 0)
  return {
    unpinClock() {
      settings.clockOffsetMs = 0
    },
    stop() {
      if (!playing.delete(tape) || playing.size > 0) return
      unpin?.()
      unpin = undefined
      unhook()
    },
  }
}

function settingsOfRun(): Settings | undefined {
  const tape = tapeOfRequest()
  return tape === undefined ? undefined : playing.get(tape)
}

function hookAll(): () => void {
  const undo = [hookSockets(), buildWall(), refuseSpawn(isWallUp, () => settingsOfRun()?.allowSpawn ?? [])]
  return () => {
    for (const restore of undo.toReversed()) restore()
  }
}

/**
 * Refuses everything that this thread asks of the network. Returns a list that grows with the sentences of what was
 * refused.
 */
export function raiseWall({
  allowSpawn,
  explain = explainOutsider,
}: Pick<PlayOptions, 'allowSpawn'> & { explain?: (request: TapeRequest) => string }): readonly string[] {
  const refused: string[] = []
  const tape: ActiveTape = {
    isStrict: true,
    respond: (request) => {
      const sentence = explain(request)
      refused.push(sentence)
      return missResponse(sentence, undefined)
    },
    act: () => ({ kind: 'run' }),
    onRefused: (sentence) => void refused.push(sentence),
  }
  setTape(() => tape)
  playTape(tape, { allowSpawn })
  return refused
}

/** The tape is in the run itself; threads and processes that it starts have none. */
function explainOutsider(): string {
  const { isMainThread } = process.getBuiltinModule('node:worker_threads')
  const who = isMainThread ? 'A process outside of the run' : 'A worker thread'
  return `${who} made a request, and only the run itself is answered from the tape. Record what starts it with recordTool.`
}
