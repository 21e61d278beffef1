import type { Api } from '../harness/api.ts'
import type { Progress } from '../harness/progress.ts'

/** A request to a contender's own API, and how to count the items in its response. */
export type Query = { method: 'GET' | 'POST'; path: string; body?: unknown; countOf: (body: never) => number }

/** The reason why there is no figure. */
export type None = { none: string }

export const queryNames = ['open', 'list', 'listFailed', 'listOfUser', 'search'] as const
export type QueryName = (typeof queryNames)[number]

/** The queries of a contender. A subject is a trace id, a user or a word. */
export type Queries = Record<QueryName, ((subject: string) => Query) | None>

/** The command that starts a contender. It listens on loopback and stores its data in the given directory. */
export type Command = { command: string; args: string[]; environment: Record<string, string> }

/** A tool that accepts spans. All contenders are measured in the same way. */
export type Contender = {
  name: string
  /** What it has done with a span when it acknowledges it. */
  acknowledgement: string
  /** Installs it if needed. */
  prepare: (progress: Progress) => Promise<{ version: string } | { missing: string }>
  command: (directory: string, ports: readonly [number, number]) => Command
  headers?: Record<string, string>
  /** Succeeds as soon as the contender is usable. */
  ready: Query
  queries: Queries
  countSpans: (api: Api, directory: string) => Promise<number>
  /** Waits until background work no longer changes the size on disk. */
  waitForDisk?: (api: Api, progress: Progress) => Promise<unknown>
}
