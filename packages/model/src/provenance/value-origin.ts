import type { Step } from '../session/step.ts'

/** A step that had a value, and where in what came of it: `output`, `output.id`. The number of the first step is 1. */
export type ValueSource = { step: Step; number: number; path: string }

/**
 * Where a value was first seen. `nowhere`: no step, message or instruction before had it. `unclaimed`: it is too short or
 * too common for any place to be its source.
 */
export type ValueOrigin =
  | { kind: 'user' }
  | { kind: 'instructions' }
  | ({ kind: 'step' } & ValueSource)
  | ({ kind: 'model' } & ValueSource)
  | { kind: 'nowhere' }
  | { kind: 'unclaimed' }

/** An argument of an action, or a part of one, and where its value came from. */
export type ArgumentOrigin = {
  path: string
  value: unknown
  origin: ValueOrigin
  /** The last step that had it before the action, when that is another one. */
  via?: ValueSource
}
