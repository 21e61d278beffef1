import type { Step } from '../session/step.ts'
import type { ValueIndex } from './value-index.ts'

/** A step that had a value, and where in its output: `output`, `output.id`. The number of the first step is 1. */
export type ValueSource = { step: Step; number: number; path: string }

/**
 * Where a value was first seen. `nowhere`: no earlier step, message or instruction had it. `unclaimed`: the value is too
 * short or too common to name a source.
 */
export type ValueOrigin =
  | { kind: 'user' }
  | { kind: 'instructions' }
  | ({ kind: 'step' } & ValueSource)
  | ({ kind: 'model' } & ValueSource)
  | { kind: 'nowhere' }
  | { kind: 'unclaimed' }

/** A step that a value passed through, and what it did: "returned null", "asked for it". */
export type TrailStep = { step: Step; number: number; did: string }

/** An argument of an action, or a part of one, and where its value came from. */
export type ArgumentOrigin = {
  path: string
  /** Undefined for an argument that the error asks for and that was not passed. */
  value: unknown
  origin: ValueOrigin
  /** True when the value is too common, or the names too different, to be sure. */
  isUncertain?: boolean
  /** The last step that had it before the action, when that is another one. */
  via?: ValueSource
  /** The steps that lead to the value, earliest first, including the model call that asked for the action. */
  trail: TrailStep[]
}

/** The session as seen from one action: only what existed before the action can be an origin. */
export type Search = {
  steps: readonly Step[]
  index: ValueIndex
  action: Step
  position: number
  /** The steps that the action runs inside of; their output does not exist yet. */
  ancestors: ReadonlySet<string>
  call: AskingCall | undefined
}

/** The model call that asked for the action; without `arguments` when only its preview is known. */
export type AskingCall = { position: number; arguments?: unknown }

/** A step's output can be used once the step has ended, except by the steps inside it. */
export function isBefore(
  { atMs, position }: { atMs: number; position: number },
  search: Omit<Search, 'call'>,
): boolean {
  const { action, steps, ancestors } = search
  const step = steps[position]!
  return (
    step.id !== action.id && atMs <= action.offsetMs && (!ancestors.has(step.id) || atMs === step.offsetMs)
  )
}

export function sourceOf(
  { position, path }: { position: number; path: string },
  steps: readonly Step[],
): ValueSource {
  return { step: steps[position]!, number: position + 1, path }
}

/** Orders the steps of a trail and adds the call that asked for the action. */
export function trailOf(stops: readonly TrailStep[], { call, steps }: Search): TrailStep[] {
  const trail = [...stops]
  if (call !== undefined && stops.every(({ number }) => number !== call.position + 1))
    trail.push({ step: steps[call.position]!, number: call.position + 1, did: 'asked for it' })
  return trail.sort((left, right) => left.number - right.number)
}
