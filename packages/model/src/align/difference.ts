/**
 * What is different about an aligned step.
 * `decision`: the model answered otherwise to the same input. `prompt`: it was sent something else. `argument`, `result`:
 * an action was called with something else, or gave back something else. `missing-step`, `extra-step`: only one session
 * has it; `missing-effect`, `added-effect`: and it is a write. `other-step`: each has another one there. `input`: the
 * sessions were asked different things. `wording`: the model said the same in other words. `repeat`: one session did the
 * same more often. `nesting`: one session has another level around the same steps. `end-state`: only the end differs.
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
  /** Where in the argument, the result or the prompt; absent for the whole. */
  path?: string
  /** The value on each side; absent when that side has none. */
  a?: unknown
  b?: unknown
}

const minorKinds: ReadonlySet<DifferenceKind> = new Set(['input', 'wording', 'repeat', 'nesting'])

/** Differences that don't make a divergence: what was asked, other words, the same once more, a level around it. */
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
