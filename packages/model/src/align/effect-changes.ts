import type { Step } from '../session/step.ts'
import type { AlignedRow } from './align-sessions.ts'
import type { Difference } from './difference.ts'
import { isFreeText } from './text-shape.ts'
import { hasFailed } from '../session/failure.ts'

/**
 * A write that only one session made (`added`, `missing`), or that both made with other arguments or another outcome.
 */
export type EffectChange = {
  kind: 'added' | 'missing' | 'changed'
  a?: Step
  b?: Step
  /** The row it is in. */
  row: number
  /** The arguments that differ. */
  differences: Difference[]
}

/** Finds the writes that differ between the sessions. Free text is ignored, because it never repeats. */
export function findEffectChanges(rows: readonly AlignedRow[]): EffectChange[] {
  const changes: EffectChange[] = []
  for (const [row, { a, b, differences }] of rows.entries()) {
    if (a?.effect !== 'write' && b?.effect !== 'write') continue
    if (a === undefined) changes.push({ kind: 'added', b: b!, row, differences: [] })
    else if (b === undefined) changes.push({ kind: 'missing', a, row, differences: [] })
    else {
      const changed = differences.filter(isEffectChange)
      if (changed.length > 0 || hasFailed(a) !== hasFailed(b))
        changes.push({ kind: 'changed', a, b, row, differences: changed })
    }
  }
  return changes
}

function isEffectChange({ kind, a, b }: Difference): boolean {
  return (kind === 'argument' || kind === 'input') && !(isFreeText(a) && isFreeText(b))
}
