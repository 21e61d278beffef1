import type { EndState } from '../session/end-state.ts'
import type { Session } from '../session/session.ts'
import type { Step } from '../session/step.ts'
import { alignTrees } from './align-trees.ts'
import { compareAligned } from './compare-aligned.ts'
import { Comparison, type Side } from './comparison.ts'
import { isMinor, mirrorDifference, type Difference } from './difference.ts'
import { findEffectChanges, type EffectChange } from './effect-changes.ts'
import { fingerprintSession, type FingerprintedSession } from './fingerprint-session.ts'

/** A step of both sessions side by side, or a step that only one of them has. */
export type AlignedRow = {
  depth: number
  a?: Step
  b?: Step
  /** The number of the step in its session; the first is 1. */
  aNumber?: number
  bNumber?: number
  differences: Difference[]
  /** It ran in parallel with others and started in another order, which is no difference. */
  isReordered?: boolean
}

/** The first difference between two sessions. It has no row when only the end states differ. */
export type Divergence = Difference & { row?: number }

export type Alignment = {
  rows: AlignedRow[]
  divergence: Divergence | null
  /** Writes that only one session made, or that were made with other arguments. */
  effects: EffectChange[]
  /** False when only previews were compared, which hide differences in long values. */
  hasPayloads: boolean
}

/** Aligns two sessions step by step and finds what differs and where they first diverge. */
export function alignSessions(a: Session, b: Session): Alignment {
  const hasPayloads = [...a.steps, ...b.steps].every((step) => step.hasPayload)
  const [left, right] = [fingerprintSession(a, hasPayloads), fingerprintSession(b, hasPayloads)]
  // Ties do not depend on the order of the sessions: swapping the sides mirrors the result.
  const isSwapped = comesLater(left, right)
  const alignment = isSwapped ? align(right, left, hasPayloads) : align(left, right, hasPayloads)
  return isSwapped ? mirrorAlignment(alignment) : alignment
}

function comesLater(left: FingerprintedSession, right: FingerprintedSession): boolean {
  if (left.fingerprint !== right.fingerprint) return left.fingerprint > right.fingerprint
  return left.session.session.id > right.session.session.id
}

function align(a: FingerprintedSession, b: FingerprintedSession, hasPayloads: boolean): Alignment {
  const comparison = new Comparison(sideOf(a), sideOf(b))
  const { rows, first } = compareAligned(alignTrees(a, b), { comparison, hasPayloads })
  const [left, right] = [a.session.session.endState, b.session.session.endState]
  const divergence = first ?? compareEnds(left, right)
  return { rows, divergence, effects: findEffectChanges(rows), hasPayloads }
}

function compareEnds(a: EndState, b: EndState): Divergence | null {
  return a === b ? null : { kind: 'end-state', a, b }
}

function sideOf({ session: { session }, ids }: FingerprintedSession): Side {
  return {
    startedAtMs: Date.parse(session.startedAt),
    durationMs: session.durationMs ?? 0,
    ids,
    isRerun: session.parentId !== undefined,
  }
}

/** Swaps the two sides of an alignment. */
export function mirrorAlignment(alignment: Alignment): Alignment {
  const { divergence } = alignment
  return {
    ...alignment,
    rows: alignment.rows.map(mirrorRow),
    divergence:
      divergence === null
        ? null
        : {
            ...mirrorDifference(divergence),
            ...(divergence.row !== undefined && { row: divergence.row }),
          },
    effects: alignment.effects.map(({ kind, a, b, row, differences }) => ({
      row,
      differences: differences.map(mirrorDifference),
      kind: kind === 'added' ? 'missing' : kind === 'missing' ? 'added' : kind,
      ...(b !== undefined && { a: b }),
      ...(a !== undefined && { b: a }),
    })),
  }
}

function mirrorRow({ a, b, aNumber, bNumber, differences, ...rest }: AlignedRow): AlignedRow {
  return {
    ...rest,
    ...(b !== undefined && { a: b }),
    ...(a !== undefined && { b: a }),
    ...(bNumber !== undefined && { aNumber: bNumber }),
    ...(aNumber !== undefined && { bNumber: aNumber }),
    differences: differences.map(mirrorDifference),
  }
}

/** True when a row differs in more than wording, question, repetition or nesting. */
export function isDivergent({ differences }: AlignedRow): boolean {
  return differences.some((difference) => !isMinor(difference))
}
