import type { Step } from '../session/step.ts'
import type { ValueIndex } from './value-index.ts'
import type { ArgumentOrigin, ValueSource } from './value-origin.ts'

/** What is looked at to find where the arguments of one action came from. */
export type Search = {
  steps: readonly Step[]
  index: ValueIndex
  action: Step
  position: number
  /** The steps that the action runs inside of: nothing has come of them yet. */
  above: ReadonlySet<string>
  found: ArgumentOrigin[]
}

/** What came of a step can be used once the step has ended, by what is not part of it. */
export function isBefore({ atMs, position }: { atMs: number; position: number }, search: Search): boolean {
  const { action, steps, above } = search
  const step = steps[position]!
  return step.id !== action.id && atMs <= action.offsetMs && (!above.has(step.id) || atMs === step.offsetMs)
}

export function sourceOf(
  { position, path }: { position: number; path: string },
  steps: readonly Step[],
): ValueSource {
  return { step: steps[position]!, number: position + 1, path }
}
