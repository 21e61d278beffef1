/**
 * How an aligned step differs.
 * - `decision`: the model replied differently to the same input. `prompt`: it was sent something else.
 * - `argument`, `result`: an action got other arguments or returned something else.
 * - `missing-step`, `extra-step`: only one session has it; `missing-effect`, `added-effect`: and it is a write.
 * - `other-step`: each session has another step there. `input`: the sessions got different inputs.
 * - `wording`: the model said the same in other words. `repeat`: one session repeated a step.
 * - `nesting`: one session has another level around the same steps. `end-state`: only the end differs.
 */
export type DifferenceKind =
  | 'decision'
  | 'prompt'
  | 'argument'
  | 'result'
  | 'missing-step'
  | 'extra-step'
  | 'missing-effect'
  | 'added-effect'
  | 'other-step'
  | 'end-state'
  | 'input'
  | 'wording'
  | 'repeat'
  | 'nesting'

export type Difference = {
  kind: DifferenceKind
  /** The place in the argument, result or prompt; absent for the whole. */
  path?: string
  /** The value on each side; absent when that side has none. */
  a?: unknown
  b?: unknown
}

const minorKinds: ReadonlySet<DifferenceKind> = new Set(['input', 'wording', 'repeat', 'nesting'])

/** True for differences that are no divergence: another input, other wording, a repeat, another level. */
export function isMinor({ kind }: Difference): boolean {
  return minorKinds.has(kind)
}

const mirrored: Partial<Record<DifferenceKind, DifferenceKind>> = {
  'missing-step': 'extra-step',
  'extra-step': 'missing-step',
  'missing-effect': 'added-effect',
  'added-effect': 'missing-effect',
}

/** The same difference seen from the other side. */
export function mirrorDifference({ kind, path, a, b }: Difference): Difference {
  return {
    kind: mirrored[kind] ?? kind,
    ...(path !== undefined && { path }),
    ...(b !== undefined && { a: b }),
    ...(a !== undefined && { b: a }),
  }
}
