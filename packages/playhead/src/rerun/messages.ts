import type { EndState, Lane, Session, SessionSummary, TapeMiss } from '@playhead/model'
import type { RunPlan } from '../tape/run-tape.ts'

/** One run of an agent from a recorded session. */
export type RunSpec = RunPlan & {
  configFile: string
  agent: string
  /** Earlier sessions of the same thread, oldest first. */
  thread?: readonly Session[] | undefined
  /** Where the re-run is recorded. Without an endpoint it is not sent; with a `dir` it is written to a file there. */
  endpoint?: string | undefined
  apiKey?: string | undefined
  project?: string | undefined
  dir?: string | undefined
}

/** One step of the tape that nobody asked for. */
export type UnusedStep = { step: number; name: string }

/** What the child reports when its run is over, however it ended. */
export type RunReport = {
  /** The re-run; null if the agent recorded nothing. */
  session: Session | null
  otherSessions: string[]
  calls: RunCalls
  misses: TapeMiss[]
  unused: UnusedStep[]
  mapped: { uuid: number; time: number; id: number }
  costUsd: number
  /** Why the run is no result, if the tape itself says so. */
  reason?: string | undefined
  /** What else there is to know about the run. */
  notes: string[]
  ended: RunEnd
  isDelivered: boolean
  /** The recording of the re-run, if it was written to a file. */
  file?: string | undefined
}

export type RunCalls = { taped: number; live: number; stubbed: number }

export type RunEnd =
  | { kind: 'returned' }
  | { kind: 'threw'; message: string }
  | { kind: 'exited'; code: number }
  /** The event loop ran empty while the agent was still waiting. */
  | { kind: 'stuck' }
  /** It had missed something, and went on for too long. */
  | { kind: 'stopped' }

/** A config without the functions in it, which never leave the child. */
export type ConfigOutline = {
  agents: { name: string; hasMatches: boolean; env?: Readonly<Record<string, string>> | undefined }[]
  cassettes?: string | undefined
  allowSpawn: readonly string[]
}

/** Sent to the child over IPC. */
export type ToChild =
  | { kind: 'describe'; configFile: string; session?: SessionSummary | undefined }
  | { kind: 'run'; spec: RunSpec; hasBudget: boolean }
  | { kind: 'reserved'; id: number; isGranted: boolean }

/** Written by the child to its file 3, one JSON a line: unlike IPC, that works while the process exits. */
export type FromChild =
  | { kind: 'config'; outline: ConfigOutline; matched?: string | undefined }
  | { kind: 'config-failed'; sentence: string; needsLoader: boolean }
  | { kind: 'started'; sessionId: string }
  | { kind: 'reserve'; id: number; usd: number }
  | { kind: 'settle'; reservedUsd: number; actualUsd: number }
  | { kind: 'finished'; report: RunReport }

export type RunVerdict = 'same' | 'diverged' | 'missed'

/** A call that the tape had no answer to; null is what it does not name. */
export type RerunMiss = {
  step: number | null
  message: number | null
  field: string | null
} & Pick<TapeMiss, 'words' | 'sentence'>

/** The result of one run, as `--json` prints it. */
export type RerunLine = {
  parent: string
  /** Null if the agent recorded no session. */
  session: string | null
  lane: Lane
  verdict: RunVerdict
  endState: EndState | null
  parentEndState: EndState
  calls: RunCalls
  divergence: null | { step: number | null; sentence: string }
  misses: RerunMiss[]
  /** Why it is no result, or what ended it. */
  reason?: string | undefined
  /** What was spent on live calls. */
  costUsd: number
  unused?: UnusedStep[]
  mapped?: RunReport['mapped']
  /** Further sessions that the run recorded. */
  otherSessions?: string[]
  /** The recording of the re-run, if it was written to a file. */
  file?: string
  /** What the user should know about the run besides its result. */
  notes?: string[]
}
