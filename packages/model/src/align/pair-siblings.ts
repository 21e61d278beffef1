import { NEVER } from './align-exactly.ts'
import { alignLists } from './align-lists.ts'
import type { FingerprintedStep } from './fingerprint-session.ts'
import { pairReordered } from './pair-reordered.ts'

/** A step among its siblings. `isOpened`: only one session has this level, and its children follow as siblings. */
export type Sibling = { fingerprinted: FingerprintedStep; isOpened: boolean }

/** The position of each step's partner on the other side, or -1. */
export type Pairing = { rightOf: Int32Array; leftOf: Int32Array; isReordered: Uint8Array }

/** Pairs two lists of siblings. */
export function pairSiblings(left: readonly Sibling[], right: readonly Sibling[]): Pairing {
  const pairing: Pairing = {
    rightOf: new Int32Array(left.length).fill(-1),
    leftOf: new Int32Array(right.length).fill(-1),
    isReordered: new Uint8Array(left.length),
  }
  const pairs = alignLists({
    leftCount: left.length,
    rightCount: right.length,
    score: (one, other) => scoreOf(left[one]!, right[other]!),
    anchors: [
      {
        left: left.map(({ fingerprinted }) => fingerprinted.whole),
        right: right.map(({ fingerprinted }) => fingerprinted.whole),
      },
      { left: left.map(callOf), right: right.map(callOf) },
    ],
  })
  for (const [one, other] of pairs) {
    pairing.rightOf[one] = other
    pairing.leftOf[other] = one
  }
  pairReordered(left, right, pairing)
  return pairing
}

const SAME_STEP = 2
const SAME_GIVEN = 3
const SAME_RESULT = 1.5
const SAME_AGENT = 0.5
const SAME_BELOW = 1

function scoreOf(left: Sibling, right: Sibling): number {
  const [one, other] = [left.fingerprinted, right.fingerprinted]
  if (one.identity !== other.identity || left.isOpened || right.isOpened) return NEVER
  return (
    SAME_STEP +
    (one.given === other.given ? SAME_GIVEN : 0) +
    (one.result === other.result ? SAME_RESULT : 0) +
    (one.agent === other.agent ? SAME_AGENT : 0) +
    (one.whole === other.whole ? SAME_BELOW : 0)
  )
}

/** Identifies a call by what was called with what. */
export function callOf({ fingerprinted: { identity, given } }: Sibling): number {
  return (identity ^ (given * 31)) + given
}
