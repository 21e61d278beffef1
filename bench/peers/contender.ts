import type { Api } from '../api.ts'
import type { Progress } from '../progress.ts'

/** A request to a contender's own interface, and how much its answer holds. */
export type Ask = { method: 'GET' | 'POST'; path: string; body?: unknown; countOf: (answer: never) => number }

/** There is no figure, and this is why. */
export type None = { none: string }

export const questionNames = ['open', 'list', 'listFailed', 'listOfUser', 'search'] as const
export type QuestionName = (typeof questionNames)[number]

/** How a contender is asked each question; a subject is a trace id, a user or a word. */
export type Questions = Record<QuestionName, ((subject: string) => Ask) | None>

/** What is run: all of it listens on loopback, at `port`, and keeps what it stores in `directory`. */
export type Command = { command: string; args: string[]; environment: Record<string, string> }

/** Something that spans can be sent to. All contenders are measured alike. */
export type Contender = {
  name: string
  /** What it has done when it answers a request with spans. */
  acknowledgement: string
  /** Installs it when that is needed. */
  prepare: (progress: Progress) => Promise<{ version: string } | { missing: string }>
  command: (directory: string, ports: readonly [number, number]) => Command
  headers?: Record<string, string>
  /** Answered as soon as it can be used. */
  ready: Ask
  questions: Questions
  countSpans: (api: Api, directory: string) => Promise<number>
  /** Waits until work in the background has changed what is on disk. */
  settle?: (api: Api, progress: Progress) => Promise<unknown>
}
