import type { Rule } from '@playhead/scripted-model'
import type { ScenarioName } from './weather.ts'

/** Somebody else's instrumentation, and the program that runs the weather agent with it. */
export type Emitter = {
  name: string
  language: 'python' | 'node'
  /** A file in `python` or `node`. */
  program: string
  packages: readonly string[]
  /** False where the agent is a loop that nobody gave a name. */
  namesAgent?: boolean
  /** False where a tool failure is only a text for the model. */
  seesToolFailures?: boolean
  rules?: readonly Rule[]
  /** Scenarios that can't be run, and why. */
  without?: Partial<Record<ScenarioName, string>>
}

/** What is the same for all programs of a language is added where they are listed. */
export type Listed = Omit<Emitter, 'language'>

/** A loop on a provider's client: it has no name, and its tools are plain functions. */
export const client = { namesAgent: false, seesToolFailures: false } as const
